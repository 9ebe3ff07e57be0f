// How much the tests try that try many cases: `npm run check` is for every commit and tries fewer than `npm test`.

const SHARE = process.env['BUSBAR_TESTS'] === 'quick' ? 6 : 1

/** Of so many cases, how many are tried. */
export function tried(cases: number): number {
  return Math.ceil(cases / SHARE)
}

/** Of cases that stand in a row, every which one is tried; 7 has no factor with eight bits in common. */
export const EVERY: number = SHARE === 1 ? 1 : 7
