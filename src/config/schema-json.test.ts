import { expect, test } from 'vitest'
import { jsonSchema } from './schema-json.ts'

test('two keys of one kind have each their own description', () => {
  const at = (...path: string[]) =>
    path.reduce<unknown>((schema, step) => Reflect.get(Object(schema), step), jsonSchema())
  for (const model of ['model', 'cheap']) {
    const price = ['properties', 'agent', 'properties', model, 'properties', 'price', 'properties']
    expect(at(...price, 'input', 'description')).toBe('Energy for 1000 tokens that it reads.')
    expect(at(...price, 'output', 'description')).toBe('Energy for 1000 tokens that it writes.')
  }
})
