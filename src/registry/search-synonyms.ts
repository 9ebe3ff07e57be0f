// Other words for what tools do and what they do it to. Words of a group stand for one another, for less than themselves.

import { stem } from './words.ts'

export function otherWords(word: string): readonly string[] {
  return SYNONYMS.get(word) ?? []
}

// --- internal ---

const SYNONYMS: ReadonlyMap<string, readonly string[]> = synonyms([
  // What is done.
  'create add make new insert open start',
  'delete remove erase drop clear forget',
  'update edit change modify set adjust alter',
  'get fetch read show retrieve view see display',
  'list show all',
  'search find query lookup look locate',
  'send post write publish push deliver',
  'run execute start trigger launch invoke exec',
  'stop cancel abort end kill pause terminate',
  'save write store keep',
  'merge combine join',
  'copy duplicate clone fork',
  'download export save pull',
  'upload attach put import',
  'reply answer respond',
  'complete finish done close resolve tick',
  'assign give owner',
  'check verify test status',
  'remember note observation memory',
  'restart rerun retry again rollout',
  'silence mute snooze',
  'preview plan',
  'transition move status',
  'explain describe detail why',
  'allow approve accept permit',
  // What it is done to.
  'folder directory',
  'picture image photo screenshot',
  'message mail email',
  'dm direct private',
  'site page website url web internet',
  'meeting event appointment invitation',
  'ticket issue bug task',
  'task todo',
  'repo repository',
  'pr pull',
  'mr merge',
  'db database',
  'table collection',
  'row record item',
  'document doc file',
  'text sms',
  'person people user member everyone somebody someone contact',
  'free available availability busy',
  'money payment balance',
  'cost spend price expense bill',
  'song music track',
  'error exception failure fail crash bug',
  'log trace console output',
  'secret password credential key',
  'env environment',
  'machine server host instance',
  'remote ssh',
  'container pod',
  'cluster kubernetes kubectl k8s',
  'deploy release',
  'ci pipeline workflow action build',
  'temperature warm cold degree thermostat',
  'alert incident alarm monitor',
  'oncall call duty',
  'library package',
  'paper article academic',
  'wiki confluence',
  'profile me myself whoami',
  'schedule calendar',
  'note page',
  'tweet post',
  'infrastructure terraform',
  'size large big',
])

function synonyms(groups: readonly string[]): Map<string, readonly string[]> {
  const map = new Map<string, readonly string[]>()
  for (const group of groups) {
    const words = group.split(' ').map(stem)
    for (const word of words) {
      const known = new Set([...(map.get(word) ?? []), ...words])
      known.delete(word)
      map.set(word, [...known])
    }
  }
  return map
}
