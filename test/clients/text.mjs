/** The text of a tool's result; a result that says that it failed is an error. */
export function textOf({ content, isError }) {
  const text = content.map((block) => block.text ?? `(${block.type})`).join('\n')
  if (isError) throw new Error(`the tool failed: ${text}`)
  return text
}
