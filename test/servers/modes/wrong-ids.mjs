// A server that gets the ids of its answers wrong.
import { CODE, errorMessage, NOTHING, RpcError, text } from '../protocol.mjs'
import { tool, wait } from './parts.mjs'
import { plain } from './plain.mjs'

function wrongIds() {
  const base = plain()
  const nobody = (_given, call) => {
    const stray = { ...call.answer(text('nobody asked')), id: 987_654_321 }
    call.send([stray, call.answer(text('right'))], true)
    return NOTHING
  }
  const duplicate = (_given, call) => {
    call.send([call.answer(text('first')), call.answer(text('second'))], true)
    return NOTHING
  }
  const stringId = (_given, call) => {
    call.send([{ ...call.answer(text('string id')), id: String(call.id) }], true)
    return NOTHING
  }
  const nullId = (_given, call) => {
    call.send([errorMessage(null, new RpcError(CODE.internal, 'Whose error is this?'))])
    return NOTHING
  }
  const late = async (_given, call) => {
    await wait(50)
    call.send([call.answer(text('late'))], true)
    return NOTHING
  }
  return {
    ...base,
    tools: [
      ...base.tools,
      tool('duplicate', 'Answers twice', duplicate),
      tool('unknown', 'Answers a request nobody made, then the right one', nobody),
      tool('string-id', 'Answers with the id as a string', stringId),
      tool('null-id', 'An error with id null, then nothing', nullId),
      tool('late', 'Answers after 50 ms even when cancelled', late),
    ],
  }
}

export const modes = { 'wrong-ids': wrongIds }
