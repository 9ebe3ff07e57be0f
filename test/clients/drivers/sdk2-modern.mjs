import { connectIn } from '../sdk2.mjs'

export const connect = (place) => connectIn({ pin: '2026-07-28' }, place)
