import { connectIn } from '../sdk2.mjs'

export const connect = (place) => connectIn('auto', place)
