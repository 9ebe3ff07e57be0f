import { expect, test } from 'vitest'
import { projectTool } from './project.ts'
import { anything, refusals } from './testing.ts'

/** What the arguments of a tool become as JSON Schema, and for Gemini, which wants nothing where there is nothing. */
const taken: [string, Record<string, unknown>, object, object | undefined][] = [
  [
    '$schema, $id, $defs and definitions',
    {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: 'https://x.example/y',
      type: 'object',
      properties: {
        who: { $ref: '#/$defs/person', description: 'The owner.' },
        also: { $ref: '#/definitions/a~1b' },
      },
      required: ['who'],
      $defs: {
        person: {
          type: 'object',
          description: 'A person.',
          properties: { name: { type: 'string' } },
          required: ['name'],
        },
      },
      definitions: { 'a/b': { type: 'integer' } },
    },
    {
      type: 'object',
      properties: {
        who: {
          type: 'object',
          description: 'The owner.',
          properties: { name: { type: 'string' } },
          required: ['name'],
        },
        also: { type: 'integer' },
      },
      required: ['who'],
    },
    {
      type: 'OBJECT',
      properties: {
        who: {
          type: 'OBJECT',
          description: 'The owner.',
          properties: { name: { type: 'STRING' } },
          required: ['name'],
        },
        also: { type: 'INTEGER' },
      },
      required: ['who'],
    },
  ],
  [
    'a shape that contains itself',
    {
      type: 'object',
      properties: { tree: { $ref: '#/$defs/node' } },
      $defs: {
        node: {
          type: 'object',
          properties: {
            value: { type: 'string' },
            children: { type: 'array', items: { $ref: '#/$defs/node' } },
          },
        },
      },
    },
    {
      type: 'object',
      properties: {
        tree: {
          type: 'object',
          properties: {
            value: { type: 'string' },
            children: {
              type: 'array',
              items: {
                type: 'object',
                description: 'Of the same shape as the node around it.',
                properties: {},
              },
            },
          },
        },
      },
    },
    {
      type: 'OBJECT',
      properties: {
        tree: {
          type: 'OBJECT',
          properties: {
            value: { type: 'STRING' },
            children: {
              type: 'ARRAY',
              items: { type: 'OBJECT', description: 'Of the same shape as the node around it.' },
            },
          },
        },
      },
    },
  ],
  [
    'the whole inside itself',
    { type: 'object', properties: { again: { $ref: '#' } } },
    {
      type: 'object',
      properties: {
        again: { type: 'object', description: 'Of the same shape as the object around it.', properties: {} },
      },
    },
    {
      type: 'OBJECT',
      properties: { again: { type: 'OBJECT', description: 'Of the same shape as the object around it.' } },
    },
  ],
  [
    'a reference at the top',
    { $ref: '#/$defs/a', $defs: { a: { type: 'object', properties: { b: { type: 'string' } } } } },
    { type: 'object', properties: { b: { type: 'string' } } },
    { type: 'OBJECT', properties: { b: { type: 'STRING' } } },
  ],
  [
    'nothing but itself',
    { $ref: '#' },
    { type: 'object', description: 'Of the same shape as the object around it.', properties: {} },
    undefined,
  ],
  [
    'allOf at the top',
    {
      allOf: [
        { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
        { type: 'object', properties: { b: { type: 'number' } } },
      ],
    },
    { type: 'object', properties: { a: { type: 'string' }, b: { type: 'number' } }, required: ['a'] },
    { type: 'OBJECT', properties: { a: { type: 'STRING' }, b: { type: 'NUMBER' } }, required: ['a'] },
  ],
  [
    'oneOf at the top',
    {
      type: 'object',
      oneOf: [
        { properties: { action: { const: 'get' }, id: { type: 'string' } }, required: ['action', 'id'] },
        {
          properties: { action: { const: 'find' }, query: { type: 'string' } },
          required: ['action', 'query'],
        },
      ],
    },
    {
      type: 'object',
      description: 'Give one of: id; or query.',
      properties: {
        action: { type: 'string', enum: ['get', 'find'] },
        id: { type: 'string' },
        query: { type: 'string' },
      },
      required: ['action'],
    },
    {
      type: 'OBJECT',
      description: 'Give one of: id; or query.',
      properties: {
        action: { type: 'STRING', format: 'enum', enum: ['get', 'find'] },
        id: { type: 'STRING' },
        query: { type: 'STRING' },
      },
      required: ['action'],
    },
  ],
  [
    'anyOf at the top that only requires',
    {
      type: 'object',
      properties: { id: { type: 'string' }, name: { type: 'string' } },
      anyOf: [{ required: ['id'] }, { required: ['name'] }],
    },
    {
      type: 'object',
      description: 'Give one of: id; or name.',
      properties: { id: { type: 'string' }, name: { type: 'string' } },
    },
    {
      type: 'OBJECT',
      description: 'Give one of: id; or name.',
      properties: { id: { type: 'STRING' }, name: { type: 'STRING' } },
    },
  ],
  [
    'text or an object',
    { anyOf: [{ type: 'string' }, { type: 'object', properties: { a: { type: 'string' } } }] },
    { type: 'object', properties: { a: { type: 'string' } } },
    { type: 'OBJECT', properties: { a: { type: 'STRING' } } },
  ],
  [
    'an object that is a text',
    { type: 'object', anyOf: [{ type: 'string' }] },
    { type: 'object', properties: {} },
    undefined,
  ],
  [
    'no type',
    { properties: { a: { type: 'string' } } },
    { type: 'object', properties: { a: { type: 'string' } } },
    { type: 'OBJECT', properties: { a: { type: 'STRING' } } },
  ],
  ['the empty schema', {}, { type: 'object', properties: {} }, undefined],
  ['an object without properties', { type: 'object' }, { type: 'object', properties: {} }, undefined],
  ['an object or null', { type: ['an object', 'null'] }, { type: 'object', properties: {} }, undefined],
  [
    'not',
    { type: 'object', not: { required: ['x'] }, properties: { a: {} } },
    { type: 'object', properties: { a: {} } },
    { type: 'OBJECT', properties: { a: anything() } },
  ],
  [
    'an argument called $ref',
    { type: 'object', properties: { $ref: { type: 'string' } } },
    { type: 'object', properties: { $ref: { type: 'string' } } },
    { type: 'OBJECT', properties: { $ref: { type: 'STRING' } } },
  ],
  [
    'required as a text',
    { type: 'object', properties: { a: { type: 'string' } }, required: 'a' },
    { type: 'object', properties: { a: { type: 'string' } } },
    { type: 'OBJECT', properties: { a: { type: 'STRING' } } },
  ],
]
for (const [title, inputSchema, expected, gemini] of taken)
  test(`the arguments may be described by ${title}`, () => {
    const tool = { name: 'tool', description: 'Does it.', inputSchema }
    const before = JSON.stringify(tool)
    const openai = projectTool('openai', tool)
    expect(openai).toEqual({
      ok: true,
      tool: { type: 'function', function: { name: 'tool', description: 'Does it.', parameters: expected } },
    })
    const head = { name: 'tool', description: 'Does it.' }
    expect(projectTool('gemini', tool)).toEqual({
      ok: true,
      tool: gemini === undefined ? head : { ...head, parameters: gemini },
    })
    for (const format of ['anthropic', 'ai-sdk', 'openai', 'gemini'] as const) {
      const projected = projectTool(format, tool)
      if (projected.ok) expect(refusals(format, projected.tool)).toEqual([])
      else expect(projected.reason).toBe('has an argument "$ref", a name that Anthropic does not take')
    }
    expect(JSON.stringify(tool)).toBe(before)
  })

const refused: [string, Record<string, unknown>, string][] = [
  [
    'a reference elsewhere at the top',
    { $ref: 'http://x.example/a' },
    'describes its arguments by a reference that its schema does not contain',
  ],
  [
    'text or a number',
    { anyOf: [{ type: 'string' }, { type: 'number' }] },
    'takes several things of which none has named arguments',
  ],
  ['text', { type: 'string' }, 'takes string instead of named arguments'],
  ['a list without items', { type: 'array', items: {} }, 'takes array instead of named arguments'],
  ['a number', { type: 'number' }, 'takes number instead of named arguments'],
  ['values that are texts', { enum: ['a'] }, 'takes string instead of named arguments'],
]
for (const [title, inputSchema, reason] of refused)
  test(`a tool is left out that takes ${title}`, () => {
    for (const format of ['anthropic', 'ai-sdk', 'openai', 'gemini'] as const)
      expect(projectTool(format, { name: 'tool', inputSchema })).toEqual({ ok: false, reason })
  })
