// What is waited for until nobody wants it any more; also where whoever gives it does not listen to that.

/** Resolves with what is waited for, or with undefined when the signal fires before. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  let stop: () => void = () => undefined
  const stopped = new Promise<undefined>((resolve) => {
    stop = () => resolve(undefined)
  })
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  try {
    return await Promise.race([work, stopped])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/** What comes piece by piece. */
export async function* abortable<T>(
  pieces: AsyncIterable<T>,
  signal: AbortSignal,
): AsyncGenerator<T, void, undefined> {
  const iterator = pieces[Symbol.asyncIterator]()
  let stop: () => void = () => undefined
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason)
  })
  stopped.catch(() => undefined)
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  let over = false
  try {
    for (;;) {
      const next = await Promise.race([iterator.next(), stopped])
      over = next.done === true
      if (next.done) return
      yield next.value
    }
  } finally {
    signal.removeEventListener('abort', stop)
    // Not waited for: it may be stuck.
    if (!over) void Promise.resolve(iterator.return?.()).catch(() => undefined)
  }
}
