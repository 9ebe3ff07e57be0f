// What a tool may do. Its server says so itself, so that raises the gate; it lowers it only where a person, or the
// catalog, vouches for it.

export type Risk = 'read' | 'write' | 'destructive'

export interface RiskOf {
  readonly risk: Risk
  /** It reaches into the open world, so what it returns may be anybody's words. */
  readonly openWorld: boolean
  /** Why, for people. */
  readonly why: string
}

/** What is believed of a server's words. */
export interface Belief {
  readonly trustAnnotations: boolean
  /** Tools that the catalog was checked to only read. */
  readonly readOnlyTools: ReadonlySet<string>
}

/** A missing annotation counts as "may write". */
export function riskOf(
  tool: string,
  annotations: Readonly<Record<string, unknown>> | undefined,
  { trustAnnotations, readOnlyTools }: Belief,
): RiskOf {
  const openWorld = annotations?.['openWorldHint'] !== false || !trustAnnotations
  const readOnly = annotations?.['readOnlyHint'] === true
  if (annotations?.['destructiveHint'] === true && !(readOnly && trustAnnotations))
    return { risk: 'destructive', openWorld, why: 'its server says that it may destroy' }
  if (readOnlyTools.has(tool)) return { risk: 'read', openWorld, why: 'the catalog says that it only reads' }
  if (readOnly)
    return trustAnnotations
      ? { risk: 'read', openWorld, why: 'its server says that it only reads, and is believed' }
      : { risk: 'write', openWorld, why: 'its server says that it only reads, which nobody vouches for' }
  return { risk: 'write', openWorld, why: 'it may write' }
}
