import { expect, test } from 'vitest'
import { Gone } from './gone.ts'

const WHY = { code: 4000, message: 'the token is over' }

test('[C11] who is sent away after they left is stopped all the same, and one who only left is not', () => {
  const gone = new Gone()
  const heard: string[] = []
  gone.onOver(false, () => heard.push('legacy'))
  gone.onOver(true, () => heard.push('modern'))
  const forget = gone.onOver(false, () => heard.push('over'))
  forget()
  gone.abort()
  expect(heard).toEqual(['modern'])
  gone.sendAway(WHY)
  expect(heard).toEqual(['modern', 'legacy'])
  gone.onOver(false, () => heard.push('late'))
  expect(heard).toEqual(['modern', 'legacy', 'late'])
})
