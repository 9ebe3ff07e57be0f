// Events: told to listeners, and as a stream that somebody reads at their own pace.

/** Events that are kept for somebody who reads slowly; then the oldest are lost. */
const LIMIT = 10_000

/** What `on` tells from now on; ends when the signal fires, or when `isEnded` says so after an event. */
export function eventStream<T>(
  on: (listener: (event: T) => void) => () => void,
  isEnded: () => boolean,
  signal?: AbortSignal,
): AsyncGenerator<T, void, undefined> {
  const queue: T[] = []
  let wake: () => void = () => undefined
  const off = on((event) => {
    queue.push(event)
    if (queue.length > LIMIT) queue.shift()
    wake()
  })
  return stream()

  async function* stream(): AsyncGenerator<T, void, undefined> {
    const stop = () => wake()
    signal?.addEventListener('abort', stop, { once: true })
    try {
      for (;;) {
        for (let event = queue.shift(); event !== undefined; event = queue.shift()) {
          yield event
          if (signal?.aborted) return
        }
        if (signal?.aborted === true || isEnded()) return
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    } finally {
      off()
      signal?.removeEventListener('abort', stop)
    }
  }
}

/** Tells an event to each. One that throws or rejects harms nobody else; its author hears of it. */
export function tellAll<T>(listeners: Iterable<(event: T) => void>, event: T): void {
  for (const listener of listeners) {
    try {
      const told: unknown = listener(event)
      if (told instanceof Promise) told.catch((error: unknown) => process.emitWarning(String(error)))
    } catch (error) {
      queueMicrotask(() => process.emitWarning(error instanceof Error ? error : String(error)))
    }
  }
}
