// The agent's own tools in a workspace, as they are registered in the hub.

import type { NativeTool } from '../../registry/native.ts'
import { grepTool } from './grep.ts'
import { readFileTool } from './read-file.ts'
import { type TerminalOptions, terminalTool } from './terminal.ts'
import { Workspace, type WorkspaceOptions } from './workspace.ts'
import { writeFileTool } from './write-file.ts'

export interface WorkspaceToolsOptions extends WorkspaceOptions, TerminalOptions {
  /** Which there are; default: all but the terminal. */
  readonly tools?: Partial<Readonly<Record<WorkspaceToolName, boolean>>> | undefined
  /** Who has them (undefined: the owner). Without it every agent of the gateway would. */
  readonly visible: (agent: string | undefined) => boolean
}

type WorkspaceToolName = 'read_file' | 'write_file' | 'grep' | 'terminal'

/** Throws a fault when the workspace is none. */
export function workspaceTools({ tools = {}, visible, ...options }: WorkspaceToolsOptions): NativeTool[] {
  const workspace = new Workspace(options)
  const all: NativeTool[] = [
    readFileTool(workspace),
    writeFileTool(workspace),
    grepTool(workspace),
    terminalTool(workspace, options),
  ]
  const isOn = (name: string) => tools[name as WorkspaceToolName] ?? name !== 'terminal'
  return all.filter(({ name }) => isOn(name)).map((tool) => ({ ...tool, visible }))
}
