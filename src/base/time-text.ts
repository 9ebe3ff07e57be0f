// Times as people are told them. What is waited for is never over later than is said.

/** Hours and minutes as the clocks around here show them, of a moment by which it has come. */
export function clockTime(epoch: number): string {
  const date = new Date(Math.ceil(epoch / MINUTE) * MINUTE)
  return [date.getHours(), date.getMinutes()].map((part) => String(part).padStart(2, '0')).join(':')
}

/** How long is to be waited: `8 s`, `16 min`, `3 h`. */
export function waitText(milliseconds: number): string {
  const seconds = Math.max(1, Math.ceil(milliseconds / 1000))
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.ceil(seconds / 60)
  return minutes < 120 ? `${minutes} min` : `${Math.ceil(minutes / 60)} h`
}

/** How long there is left. */
export function leftText(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000))
  return seconds < 90 ? `${seconds} s` : `${Math.round(seconds / 60)} min`
}

// --- internal ---

const MINUTE = 60_000
