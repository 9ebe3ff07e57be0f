import { defineConfig } from 'vitest/config'

// Unit tests sit beside the code and share one process; e2e tests run the built binary, each file on its own.
export default defineConfig({
  define: { __BUSBAR_VERSION__: JSON.stringify('0.0.0-test') },
  test: {
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
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
})
