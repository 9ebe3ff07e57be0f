// `write_file`: a text file of the workspace, replaced in one step.

import { statSync } from 'node:fs'
import { Fault } from '../../base/fault.ts'
import { writeFileAtomic } from '../../base/write-file.ts'
import type { NativeTool } from '../../registry/native.ts'
import type { Workspace } from './workspace.ts'

export function writeFileTool(workspace: Workspace): NativeTool {
  return {
    name: 'write_file',
    description:
      'Writes a text file of the workspace: all of it, in place of what was there. Makes missing folders.',
    inputSchema: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'Path in the workspace.' },
        content: { type: 'string', description: 'The whole new text.' },
      },
      required: ['path', 'content'],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    run: (args) => {
      const { path, content } = args as { path: string; content: string }
      const size = Buffer.byteLength(content)
      if (size > MOST_WRITTEN)
        throw new Fault(
          'ARGUMENTS_INVALID',
          `the text has ${size} bytes, and ${MOST_WRITTEN} at most are written`,
        )
      return workspace.into(path, (place, name) => {
        const before = statSync(place, { throwIfNoEntry: false })
        writeFileAtomic(place, content, { durable: false })
        return `${before === undefined ? 'Created' : 'Replaced'} ${JSON.stringify(name)} (${size} bytes).`
      })
    },
  }
}

// --- internal ---

const MOST_WRITTEN = 4 * 1024 * 1024
