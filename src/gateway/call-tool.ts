// A client's call of `call_tool`, rewritten to the call that it means before anything is decided: progress, cancellation,
// questions, approval, record and bytes are then those of that call.

import type { CallContext } from '../call/context.ts'
import { meantBy } from '../call/find-tools-call.ts'
import { withParam, withParamText } from '../wire/params.ts'
import type { Asked } from './asked.ts'

/** The same when it means nothing; that is refused where tools of this process are called. */
export function meantCall(context: CallContext, asked: Asked): Asked {
  const { actor, params } = asked
  const at = params.members.find(({ key }) => key === 'arguments')
  const meant = at && meantBy(context, actor, params.bytes.subarray(at.start, at.end))
  if (meant === undefined) return asked
  const named = withParam(params, 'name', meant.name)
  // Its headers were about `call_tool`, and have been checked.
  return {
    ...asked,
    name: meant.name,
    params: withParamText(named, 'arguments', meant.args),
    headers: undefined,
  }
}
