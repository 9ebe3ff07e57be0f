// What was measured, put together and shown: medians, and what each is beside the first of its group.
import { median } from './load.mjs'

/** Samples in the order they came → groups of rows. A row's floor is the first row of its group, round by round. */
export function summarize({ name, about, columns }, samples) {
  const groups = new Map()
  for (const { group, name: row, values } of samples) {
    const rows = groups.get(group) ?? groups.set(group, new Map()).get(group)
    rows.set(row, [...(rows.get(row) ?? []), values])
  }
  return {
    name,
    about,
    groups: [...groups].map(([group, rows]) => {
      const [floor] = rows.values()
      return { group, rows: [...rows].map(([row, list]) => ({ name: row, ...cells(columns, list, floor) })) }
    }),
  }
}

/** A summary as tables in Markdown. */
export function tables({ name, about, groups }, columns) {
  const parts = groups.map(({ group, rows }) => {
    const titles = columns.flatMap(({ title, compare }) =>
      compare ? [title, HEADS[compare](rows[0].name)] : [title],
    )
    const lines = rows.map((row) => [row.name, ...columns.flatMap((column) => shown(column, row))])
    return aligned([[group, ...titles], ...lines])
  })
  return `${name}: ${about}\n\n${parts.join('\n\n')}\n`
}

// --- internal ---

const HEADS = { ratio: (floor) => `× ${floor} (range)`, difference: (floor) => `beyond ${floor} (range)` }

function cells(columns, list, floor) {
  const of = ({ key, compare }) => {
    const values = list.map((sample) => sample[key])
    const value = median(values)
    if (compare === undefined) return { value }
    const beside = floor.map((sample) => sample[key])
    const against = compare === 'ratio' ? (own, other) => own / other : (own, other) => own - other
    const each = values.flatMap((own, round) =>
      beside[round] === undefined ? [] : [against(own, beside[round])],
    )
    return { value, [compare]: median(each), least: Math.min(...each), most: Math.max(...each) }
  }
  return {
    rounds: list.length,
    values: Object.fromEntries(columns.map((column) => [column.key, of(column)])),
  }
}

function shown({ key, compare }, { values, rounds }) {
  const { value, least, most, ...rest } = values[key]
  if (compare === undefined) return [short(value)]
  const middle = short(rest[compare])
  return [short(value), rounds > 1 ? `${middle} (${short(least)}–${short(most)})` : middle]
}

function short(value) {
  const size = Math.abs(value)
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2)
}

function aligned(lines) {
  const widths = lines[0].map((_, column) => Math.max(...lines.map((line) => line[column].length)))
  const text = (line) =>
    `| ${line.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column]))).join(' | ')} |`
  const rule = widths.map((width, column) => (column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`))
  return [text(lines[0]), `| ${rule.join(' | ')} |`, ...lines.slice(1).map(text)].join('\n')
}
