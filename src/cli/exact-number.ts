// Finds numbers that would not arrive as they were typed: a double has room for about 16 digits.

/** The first number in a JSON text that a double cannot hold exactly as written. */
export function inexactNumber(json: string): string | undefined {
  const withoutStrings = json.replace(/"(?:[^"\\]|\\.)*"/g, '""')
  return withoutStrings.match(/-?\d[\d.eE+-]*/g)?.find((lexeme) => {
    // Beyond the largest one there is only infinity, which JSON cannot say.
    if (!Number.isFinite(Number(lexeme))) return true
    const digits = lexeme.replace(/[eE].*$/, '').replace(/[-.]/g, '')
    return digits.length > 15 && decimal(lexeme) !== decimal(String(Number(lexeme)))
  })
}

// --- internal ---

/** A number as its digits and its power of ten, without zeros at either end: the same for the same number. */
function decimal(lexeme: string): string {
  const [, sign = '', whole = '', fraction = '', power = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(lexeme) ?? []
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  const kept = digits.replace(/0+$/, '')
  return `${sign}${kept}e${Number(power) - fraction.length + digits.length - kept.length}`
}
