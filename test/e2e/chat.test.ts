// `busbar chat` as a person meets it, with a real terminal and with pipes, with the gateway and without.

import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { say, use } from '../servers/models/answers.ts'
import { ASKING, CONFIG, chat, kept, listed, PROMPT, room } from './chat-terminal.ts'
import { until, up } from './hub.ts'

test('[E1] a conversation on a terminal: words as they come, tools, energy, help and the end', async () => {
  const held = await room([
    { ...use('read_file', { path: 'a.txt' }), thinking: 'let me see', text: 'I look.' },
    say('You need \u001b[2Jmilk\u202e.'),
    say('Gladly.'),
  ])
  const session = chat(held)
  await session.shows(PROMPT)
  session.type('what do I need?\r')
  await session.shows('let me see')
  await session.shows('I look.')
  await session.shows('→ read_file {"path":"a.txt"}')
  await session.shows(/✓.*read_file/)
  await session.shows('You need \\u{1b}[2Jmilk\\u{202e}.')
  await session.shows(/energy [▰▱]{10} [\d.]+ \/ 100 \w+ · [\d.]+ spent · \d+ tokens · openai\/big/)
  await session.shows(PROMPT)
  expect(held.models.asked[1]?.text).toContain('milk and bread')
  session.type('/tools\r')
  await session.shows('plain/echo')
  await session.shows(PROMPT)
  session.type('/energy\r')
  await session.shows(/energy [▰▱]{10}/)
  await session.shows(PROMPT)
  session.type('/nonsense\r')
  await session.shows('/quit')
  await session.shows(PROMPT)
  session.type('thanks\r')
  await session.shows('Gladly.')
  await session.shows(PROMPT)
  session.type('/quit\r')
  expect(await session.ended).toBe(0)
  expect(session.text()).not.toContain('\u001b[2J')
})

test('[E1] [E2] questions are answered inline: yes, no, always, and nothing else is a yes', async () => {
  const write = (path: string) => use('write_file', { path, content: 'x' })
  const held = await room(
    [write('one'), say('A'), write('two'), say('B'), write('three'), say('C'), write('four'), say('D')],
    ASKING,
  )
  const session = chat(held)
  const ask = async (answers: string[]) => {
    await session.shows(PROMPT)
    session.type('write it\r')
    for (const answer of answers) {
      await session.shows('allow? [y]es')
      session.type(`${answer}\r`)
    }
  }
  await ask(['sure'])
  await session.shows('y: allow this call')
  for (const answer of ['', 'v', 'y']) {
    await session.shows('allow? [y]es')
    session.type(`${answer}\r`)
  }
  await session.shows('allowed')
  await session.shows('A')
  await ask(['n'])
  await session.shows('denied')
  await session.shows(/✗.*write_file/)
  await session.shows('B')
  await ask(['a'])
  await session.shows('allowed, from now on')
  await session.shows('C')
  await ask([])
  await session.shows(/✓.*write_file/)
  await session.shows('D')
  await session.shows(PROMPT)
  session.type('\u0004')
  expect(await session.ended).toBe(0)
  expect(readdirSync(held.sandbox.path('notes')).sort()).toEqual(['a.txt', 'four', 'one', 'three'])
})

test('[E1] Ctrl-C stops the turn, and the conversation goes on; twice leaves', async () => {
  const held = await room([
    say('a very long answer that never ends', {
      pace: (sent) => (sent > 3 ? new Promise(() => {}) : undefined),
    }),
    say('Here I am.'),
  ])
  const session = chat(held)
  await session.shows(PROMPT)
  session.type('go\r')
  await session.shows('a very')
  session.type('\u0003')
  await session.shows('stopping')
  await session.shows('stopped')
  expect(await held.models.asked[0]?.ended).toBe('left')
  await session.shows(PROMPT)
  session.type('still there?\r')
  await session.shows('Here I am.')
  await session.shows(PROMPT)
  session.type('\u0003')
  await session.shows('once more to leave')
  session.type('\u0003')
  expect(await session.ended).toBe(0)
})

test('[D10] through the gateway: both ends speak, questions are asked, and an earlier conversation is gone on with', async () => {
  const held = await room(
    [use('write_file', { path: 'made', content: 'x' }), say('It is made.'), say('As I said.')],
    ASKING,
  )
  const { sandbox, env } = held
  await up(sandbox, ASKING, { env })
  const session = chat(held, ['--config', 'team.json'])
  await session.shows(PROMPT)
  session.type('make it\r')
  await session.shows(/ada.* wants .*write_file/)
  await session.shows('allow? [y]es')
  session.type('y\r')
  await session.shows('It is made.')
  await session.shows(PROMPT)
  session.type('/quit\r')
  expect(await session.ended).toBe(0)
  const id = /conversation ([0-9a-f]{8}) with ada/.exec(session.text())?.[1] ?? ''
  const words = ['chat', '--config', 'team.json', '--conversation', id]
  const again = await sandbox.run(words, { env, input: 'what was it?\n' })
  expect([again.code, again.stdout]).toEqual([0, 'As I said.\n'])
  expect(held.models.asked.at(-1)?.text).toContain('It is made.')
  const unknown = await sandbox.run(
    ['chat', '--config', 'team.json', '--conversation', 'ffffffff', '--json'],
    { env },
  )
  expect(unknown.error).toMatchObject({ code: 'CONVERSATION_UNKNOWN' })
})

test('[E1] without a terminal each line is a message, and only answers go to stdout', async () => {
  const held = await room([say('First.'), use('mcp__plain__echo', { text: 'hi' }), say('Second.')])
  const { sandbox, env } = held
  const ran = await sandbox.run(['chat', '--trust'], { env, input: 'one\n\ntwo\n' })
  expect([ran.code, ran.stdout]).toEqual([0, 'First.\nSecond.\n'])
  held.models.answer([say('Third.')])
  const json = await sandbox.run(['chat', '--json'], { env, input: 'three\n' })
  const kinds = json.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).kind)
  expect(kinds).toEqual(expect.arrayContaining(['message', 'turn-start', 'text', 'answer', 'turn-end']))
})

test('[E1] whoever says nothing leaves no conversation behind', async () => {
  const held = await room([say('hello')])
  const { sandbox, env } = held
  await up(sandbox, CONFIG, { env })
  const ran = await sandbox.run(['chat', '--config', 'team.json'], { env, input: '\n' })
  expect([ran.code, ran.stdout]).toEqual([0, ''])
  expect(await kept(held)).toEqual([])
  await sandbox.run(['chat', '--config', 'team.json'], { env, input: 'hi\n' })
  expect(await kept(held)).toHaveLength(1)
})

test('[E1] without a model, or with one that refuses, the command says what to do', async () => {
  const held = await room([{ kind: 'refuse', status: 401, message: 'no such key' }])
  const { sandbox, env } = held
  const none = await sandbox.run(['chat', '--trust', '--json'], { input: 'hello\n' })
  expect([none.code, none.error]).toMatchObject([
    1,
    { code: 'MODEL_REFUSED', hint: expect.stringContaining('ANTHROPIC_API_KEY') },
  ])
  const refused = await sandbox.run(['chat'], { env, input: 'hello\n' })
  expect(refused.code).toBe(1)
  expect(refused.stderr).toContain('OPENAI_API_KEY')
})

test('[E1] only a question to a model loads what speaks to models', async () => {
  const held = await room([say('hello')])
  const { sandbox, env } = held
  const loaded = async (words: string[], input = '') => {
    const folder = join(sandbox.root, `coverage-${words[0]}`)
    mkdirSync(folder)
    const ran = await sandbox.run(words, { env: { ...env, NODE_V8_COVERAGE: folder }, input })
    expect(ran.code).toBe(0)
    return readdirSync(folder)
      .map((file) => readFileSync(join(folder, file), 'utf8'))
      .join('')
  }
  expect(await loaded(['chat', '--trust'], 'hi\n')).toMatch(/chunks\/models-/)
  for (const words of [['list'], ['tools', 'plain'], ['call', 'plain/echo', 'text=a']])
    expect(await loaded(words)).not.toMatch(/chunks\/(?:models|agent|provider)-\w/)
})

test('[E1] what is said while the agent works reaches it, and a question answered elsewhere is closed here', async () => {
  let release = () => {}
  const gate = new Promise<void>((resolve) => (release = resolve))
  const held = await room(
    [
      {
        ...use('write_file', { path: 'late', content: 'x' }),
        text: 'one two three four',
        pace: (sent) => (sent === 3 ? gate : undefined),
      },
      say('Noted.'),
    ],
    ASKING,
  )
  const { sandbox, env } = held
  await up(sandbox, ASKING, { env })
  const session = chat(held, ['--config', 'team.json'])
  await session.shows(PROMPT)
  session.type('begin\r')
  await session.shows('one')
  session.type('by the way: hurry\r')
  await until(async () => (await listed(held)).includes('by the way'))
  release()
  await session.shows('allow? [y]es')
  const { approvals } = (await sandbox.run(['approve', 'list', '--json', '--config', 'team.json'], { env }))
    .json
  await sandbox.run(['approve', 'allow', approvals[0].id, '--config', 'team.json'], { env })
  await session.shows(/✓.*write_file/)
  await session.shows('Noted.')
  await session.shows(PROMPT)
  expect(held.models.asked.at(-1)?.text).toContain('by the way: hurry')
  session.type('/quit\r')
  expect(await session.ended).toBe(0)
})

test('[E1] what was begun before a question is no answer to it, and is there again afterwards', async () => {
  let release = () => {}
  const gate = new Promise<void>((resolve) => (release = resolve))
  const held = await room(
    [
      {
        ...use('write_file', { path: 'late', content: 'x' }),
        text: 'one two three four',
        pace: (sent) => (sent === 3 ? gate : undefined),
      },
      say('Written.'),
      say('Whole now.'),
    ],
    ASKING,
  )
  await up(held.sandbox, ASKING, { env: held.env })
  const session = chat(held, ['--config', 'team.json'])
  await session.shows(PROMPT)
  session.type('begin\r')
  await session.shows('one')
  session.type('by the way\ryes, but ')
  await until(async () => (await listed(held)).includes('by the way'))
  release()
  await session.shows('allow? [y]es')
  session.type('n\r')
  await session.shows('denied')
  await session.shows('Written.')
  await session.shows(PROMPT)
  session.type('later\r')
  await session.shows('Whole now.')
  expect(held.models.asked.at(-1)?.text).toContain('yes, but later')
  session.type('/quit\r')
  expect(await session.ended).toBe(0)
})

test('[E1] without a terminal a question says where it is answered, and the answer goes on', async () => {
  const held = await room([use('write_file', { path: 'late', content: 'x' }), say('Done.')], ASKING)
  const { sandbox, env } = held
  await up(sandbox, ASKING, { env })
  const child = sandbox.start(['chat', '--config', 'team.json'], { env })
  const ended = once(child, 'close')
  let [stdout, stderr] = ['', '']
  child.stdout?.on('data', (data) => (stdout += data))
  child.stderr?.on('data', (data) => (stderr += data))
  child.stdin?.end('do it\n')
  const id = (await until(() => /busbar approve allow (\w+)/.exec(stderr)))[1] ?? ''
  await sandbox.run(['approve', 'allow', id, '--config', 'team.json'], { env })
  expect(await ended).toEqual([0, null])
  expect(stdout).toBe('Done.\n')
})

test('[E1] a signal ends the turn and the command, whoever runs the agent', async () => {
  for (const gateway of [false, true]) {
    const held = await room([{ kind: 'hang' }])
    const { sandbox, env } = held
    if (gateway) await up(sandbox, CONFIG, { env })
    const words = gateway ? ['chat', '--config', 'team.json'] : ['chat', '--trust']
    const child = sandbox.start(words, { env })
    const ended = once(child, 'close')
    child.stdin?.write('hello\n')
    await until(() => held.models.asked.length > 0)
    child.kill('SIGINT')
    expect(await ended).toEqual([130, null])
    expect(await held.models.asked[0]?.ended).toBe('left')
  }
})

test('[E1] a gateway that goes away ends the conversation at the terminal with a word', async () => {
  const held = await room([{ kind: 'hang' }])
  const { sandbox, env } = held
  const gateway = await up(sandbox, CONFIG, { env })
  const session = chat(held, ['--config', 'team.json'])
  await session.shows(PROMPT)
  session.type('hello\r')
  await until(() => held.models.asked.length > 0)
  await gateway.end('SIGKILL')
  await session.shows('the gateway went away')
  expect(await session.ended).toBe(4)
})
