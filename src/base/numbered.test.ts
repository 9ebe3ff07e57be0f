import { expect, test } from 'vitest'
import { Numbered } from './numbered.ts'

test('does what a Map does, whatever comes and goes', () => {
  let seed = 1
  const random = (limit: number) => {
    seed = (seed * 48271) % 2147483647
    return seed % limit
  }
  for (const range of [20, 400, 2 ** 40]) {
    const ours = new Numbered<{ key: number }>()
    const map = new Map<number, { key: number }>()
    const drawn: number[] = []
    for (let step = 0; step < 4_000; step++) {
      const known = drawn[random(drawn.length || 1)]
      const key = known !== undefined && random(3) > 0 ? known : (random(2 ** 20) * 2 ** 20 + step) % range
      drawn[step % 300] = key
      if (random(2) === 0) {
        const thing = { key }
        ours.set(key, thing)
        map.set(key, thing)
      } else {
        expect(ours.take(key)).toBe(map.get(key))
        map.delete(key)
      }
      expect(ours.get(key)).toBe(map.get(key))
      expect(ours.size).toBe(map.size)
      if (step % 500 === 0) {
        expect(ours.entries().sort(byKey)).toEqual([...map].sort(byKey))
        expect(new Set(ours.values())).toEqual(new Set(map.values()))
      }
    }
    ours.clear()
    expect([ours.size, ours.values(), ours.get(drawn[0] ?? 0)]).toEqual([0, [], undefined])
  }
})

function byKey(a: [number, unknown], b: [number, unknown]): number {
  return a[0] - b[0]
}
