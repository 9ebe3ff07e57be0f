import { through } from './mcp-remote.mjs'

export const connect = (place) => through('auto', place)
