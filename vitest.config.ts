import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files of a minute and more. Begun last, each would keep one of two workers alone at the end. */
const LONG =
  /test\/(?:clients|conformance)\/|test\/e2e\/(?:record-crash|crash|sign-in-race|call-cli|agent-gateway)\.test/

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return [true, false].flatMap((long) => sorted.filter(({ moduleId }) => LONG.test(moduleId) === long))
  }
}

// Unit tests sit beside the code; e2e tests run the built binary. Files share processes: to start one for each, and read
// everything again, took a minute and more of all of them.
export default defineConfig({
  define: { __BUSBAR_VERSION__: JSON.stringify('0.0.0-test') },
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts'],
          pool: 'threads',
          isolate: false,
          // Some try thousands of cases, on whatever machine.
          testTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['test/**/*.test.ts'],
          isolate: false,
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
})
