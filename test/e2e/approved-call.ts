// One of many calls that a person is asked about.

import type { Question } from '../../src/policy/approvals.ts'

export function approvedCall(number: number): Question {
  return {
    agent: 'cto',
    server: 'github',
    tool: 'merge',
    fingerprint: 'f',
    argumentsHash: `hash ${number}`,
    arguments: '{}',
  }
}
