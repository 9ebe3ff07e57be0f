// A server that needs something from its client in the middle of a call. Legacy: pushed requests. Modern: input_required.
import { randomUUID } from 'node:crypto'
import { json } from '../protocol.mjs'
import { tool, wait } from './parts.mjs'
import { plain } from './plain.mjs'

const FORM = {
  message: 'Who are you?',
  requestedSchema: {
    type: 'object',
    properties: {
      name: { type: 'string', title: 'Name', minLength: 1 },
      age: { type: 'integer', minimum: 0 },
      sure: { type: 'boolean', default: true },
      colour: { type: 'string', enum: ['red', 'green'] },
    },
    required: ['name'],
  },
}

/** `after`: milliseconds of work before it asks. */
async function ask({ after = 0 }, call) {
  if (after > 0) await wait(after)
  // `mode` came with 2025-11-25; leaving it out means a form in every version.
  return await call.ask('who', 'elicitation/create', FORM).then(json)
}

function askUrl(_given, call) {
  const params = { mode: 'url', message: 'Please sign in', url: 'https://example.com/sign-in' }
  // The modern era dropped the id.
  const more = call.modern ? {} : { elicitationId: randomUUID() }
  return call.ask('sign-in', 'elicitation/create', { ...params, ...more }).then(json)
}

function sample(_given, call) {
  const content = { type: 'text', text: 'What is the capital of France?' }
  const params = { messages: [{ role: 'user', content }], maxTokens: 100, systemPrompt: 'Be short.' }
  return call.ask('answer', 'sampling/createMessage', params).then(json)
}

function roots(_given, call) {
  return call.ask('roots', 'roots/list').then(json)
}

function elicit() {
  const base = plain()
  return {
    ...base,
    tools: [
      ...base.tools,
      tool('ask', 'Asks for a name with a form', ask),
      tool('ask-url', 'Asks to open a page', askUrl),
      tool('sample', 'Asks the model of the client', sample),
      tool('roots', 'Asks for the roots of the client', roots),
    ],
  }
}

export const modes = { elicit }
