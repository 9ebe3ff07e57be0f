// Commands in what is told, such that they can be pasted: `npm start`, and what it leaves to be
// typed, say by BUSBAR_COMMAND what stands for `busbar` there.

export function asTyped(text: string, command: string | undefined = process.env['BUSBAR_COMMAND']): string {
  return command ? text.replace(/(?<![\w./-])busbar (?=[a-z])/g, () => `${command} `) : text
}
