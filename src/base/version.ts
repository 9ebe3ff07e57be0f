// The version in package.json, put in by the build.

declare const __BUSBAR_VERSION__: string

export const VERSION: string = __BUSBAR_VERSION__
