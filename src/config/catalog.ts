// The built-in catalog: servers a person can add by name, each as an exact argv and environment, never a shell line.

export interface CatalogEntry {
  readonly name: string
  readonly category: string
  readonly description: string
  /** Environment variables that must be set for it to work. `workspaceFolder` is ours, so never among them. */
  readonly variables: readonly string[]
  readonly command: 'npx' | 'uvx'
  /**
   * Exact argv after the command; the package stands there as `name@version`. What a person or Busbar must still
   * fill in is an argument that is a `${VAR}` reference; no secret is ever one, because `ps` shows arguments.
   */
  readonly args: readonly string[]
  /** `${VAR}` references only, under the names the package itself reads. */
  readonly env: Readonly<Record<string, string>>
  readonly package: CatalogPackage
  /**
   * Tools that only read, each checked in the source of `package.known` or by running it. A server's own hints
   * are not enough: playwright calls tools read-only that write a file when asked to.
   */
  readonly readOnlyTools: readonly string[]
  readonly homepage: string
}

interface CatalogPackage {
  readonly registry: 'npm' | 'pypi'
  readonly name: string
  /** `latest`, or one exact version that is kept. */
  readonly version: string
  /** Newest version known when this release was made, used when the registry cannot be reached. */
  readonly known: string
}

export const CATALOG: readonly CatalogEntry[] = [
  {
    name: 'github',
    category: 'development',
    description: 'GitHub -- code, issues, PRs',
    variables: ['GITHUB_TOKEN'],
    command: 'npx',
    // Deprecated on npm, and still the only one there: its successor, github/github-mcp-server, is a Go binary.
    args: ['-y', '@modelcontextprotocol/server-github@latest'],
    env: { GITHUB_PERSONAL_ACCESS_TOKEN: '${GITHUB_TOKEN}' },
    package: {
      registry: 'npm',
      name: '@modelcontextprotocol/server-github',
      version: 'latest',
      known: '2025.4.8',
    },
    readOnlyTools: names(`
      search_repositories search_code search_issues search_users get_file_contents list_commits list_issues
      get_issue list_pull_requests get_pull_request get_pull_request_files get_pull_request_status
      get_pull_request_comments get_pull_request_reviews
    `),
    homepage: 'https://github.com/modelcontextprotocol/servers-archived/tree/main/src/github',
  },
  {
    name: 'linear',
    category: 'project-management',
    description: 'Linear -- issues, cycles',
    variables: ['LINEAR_API_KEY'],
    command: 'npx',
    // Linear's own server is remote only; this one runs here and takes the key from the environment.
    args: ['-y', '@tacticlaunch/mcp-linear@latest'],
    env: { LINEAR_API_KEY: '${LINEAR_API_KEY}' },
    package: { registry: 'npm', name: '@tacticlaunch/mcp-linear', version: 'latest', known: '1.4.3' },
    // Left out though they only read, as they bear on security: OAuth applications, webhooks, sessions,
    // audit events and integrations.
    readOnlyTools: names(`
      linear_getViewer linear_getOrganization linear_getUsers linear_getLabels linear_getTeams
      linear_getWorkflowStates linear_getTeamMemberships linear_getTeamLabels linear_getTeamResources
      linear_getProjects linear_getProjectById linear_getProjectUpdateById linear_getProjectUpdates
      linear_getProjectIssues linear_getProjectMembers linear_getRoadmaps linear_getRoadmapById
      linear_getReleasePipelines linear_getReleasePipelineById linear_getReleases linear_getReleaseById
      linear_searchReleases linear_getReleaseStages linear_getReleaseNotes linear_getReleaseNoteById
      linear_getMilestones linear_getMilestoneById linear_getDocuments linear_getDocumentById
      linear_getProjectDocuments linear_getInitiativeDocuments linear_getTeamDocuments
      linear_getIssueDocuments linear_getReleaseDocuments linear_getCycleDocuments linear_searchDocuments
      linear_getDocumentContentHistory linear_getAttachments linear_getNotifications
      linear_getSubscriptions linear_getUnreadNotificationCount linear_getSavedViews
      linear_getFavoriteViews linear_getCycles linear_getCycleById linear_getCycleStats
      linear_getActiveCycle linear_getCycleIssues linear_getInitiatives linear_getInitiativeById
      linear_getInitiativeProjects linear_getInitiativeUpdateById linear_getInitiativeUpdates
      linear_getCustomers linear_getCustomerById linear_getCustomerNeeds linear_getCustomerNeedById
      linear_getCustomerStatuses linear_getCustomerTiers linear_getIssues linear_getIssueById
      linear_searchIssues linear_getCustomFields linear_getIssueCustomFields linear_getIssueTemplates
      linear_getIssueTemplateById linear_getTeamTemplates linear_getIssueHistory linear_getComments
    `),
    homepage: 'https://github.com/tacticlaunch/mcp-linear',
  },
  {
    name: 'notion',
    category: 'knowledge',
    description: 'Notion -- docs, wikis',
    variables: ['NOTION_TOKEN'],
    command: 'npx',
    args: ['-y', '@notionhq/notion-mcp-server@latest'],
    env: { NOTION_TOKEN: '${NOTION_TOKEN}' },
    package: { registry: 'npm', name: '@notionhq/notion-mcp-server', version: 'latest', known: '2.5.2' },
    // Search and query are POST requests, so the server itself calls them destructive; they only read.
    readOnlyTools: names(`
      API-get-user API-get-users API-get-self API-post-search API-get-block-children API-retrieve-a-block
      API-retrieve-a-page API-retrieve-a-page-property API-retrieve-page-markdown API-retrieve-a-comment
      API-query-data-source API-retrieve-a-data-source API-list-data-source-templates
      API-retrieve-a-database
    `),
    homepage: 'https://github.com/makenotion/notion-mcp-server',
  },
  {
    name: 'playwright',
    category: 'automation',
    description: 'Playwright -- browser automation',
    variables: [],
    command: 'npx',
    args: ['-y', '@playwright/mcp@0.0.68'],
    env: {},
    package: { registry: 'npm', name: '@playwright/mcp', version: '0.0.68', known: '0.0.68' },
    // Snapshot, screenshot, console and network say they only read, but write a file the model may name.
    readOnlyTools: ['browser_wait_for'],
    homepage: 'https://github.com/microsoft/playwright-mcp',
  },
  {
    name: 'slack-mcp',
    category: 'communication',
    description: 'Slack -- messaging',
    // The package stops at once without the team id.
    variables: ['SLACK_BOT_TOKEN', 'SLACK_TEAM_ID'],
    command: 'npx',
    // Carries on @modelcontextprotocol/server-slack, which is archived and deprecated.
    args: ['-y', '@zencoderai/slack-mcp-server@latest'],
    env: { SLACK_BOT_TOKEN: '${SLACK_BOT_TOKEN}', SLACK_TEAM_ID: '${SLACK_TEAM_ID}' },
    package: { registry: 'npm', name: '@zencoderai/slack-mcp-server', version: 'latest', known: '0.0.1' },
    readOnlyTools: names(`
      slack_list_channels slack_get_channel_history slack_get_thread_replies slack_get_users
      slack_get_user_profile
    `),
    homepage: 'https://github.com/zencoderai/slack-mcp-server',
  },
  {
    name: 'stripe',
    category: 'finance',
    description: 'Stripe -- payments',
    variables: ['STRIPE_SECRET_KEY'],
    command: 'npx',
    args: ['-y', '@stripe/mcp@latest'],
    env: { STRIPE_SECRET_KEY: '${STRIPE_SECRET_KEY}' },
    package: { registry: 'npm', name: '@stripe/mcp', version: 'latest', known: '0.3.3' },
    // The package only passes calls on to mcp.stripe.com, so its tools can change without a new version.
    readOnlyTools: [],
    homepage: 'https://docs.stripe.com/mcp',
  },
  {
    name: 'filesystem',
    category: 'files',
    description: 'Filesystem -- files of the project folder',
    variables: [],
    command: 'npx',
    args: ['-y', '@modelcontextprotocol/server-filesystem@latest', '${workspaceFolder}'],
    env: {},
    package: {
      registry: 'npm',
      name: '@modelcontextprotocol/server-filesystem',
      version: 'latest',
      known: '2026.8.31',
    },
    readOnlyTools: names(`
      read_file read_text_file read_media_file read_multiple_files list_directory list_directory_with_sizes
      directory_tree search_files get_file_info list_allowed_directories
    `),
    homepage: 'https://github.com/modelcontextprotocol/servers/tree/main/src/filesystem',
  },
  {
    name: 'memory',
    category: 'knowledge',
    description: 'Memory -- a knowledge graph kept in a file',
    variables: [],
    command: 'npx',
    args: ['-y', '@modelcontextprotocol/server-memory@latest'],
    // Without a path of its own, memories would lie inside the npx cache and be lost with the next version.
    env: { MEMORY_FILE_PATH: '${MEMORY_FILE_PATH:-${workspaceFolder}/memory.jsonl}' },
    package: {
      registry: 'npm',
      name: '@modelcontextprotocol/server-memory',
      version: 'latest',
      known: '2026.8.31',
    },
    readOnlyTools: ['read_graph', 'search_nodes', 'open_nodes'],
    homepage: 'https://github.com/modelcontextprotocol/servers/tree/main/src/memory',
  },
  {
    name: 'everything',
    category: 'development',
    description: 'Everything -- a test server with every protocol feature',
    variables: [],
    command: 'npx',
    args: ['-y', '@modelcontextprotocol/server-everything@latest'],
    env: {},
    package: {
      registry: 'npm',
      name: '@modelcontextprotocol/server-everything',
      version: 'latest',
      known: '2026.8.31',
    },
    // `get-env` only reads, but what it reads is its whole environment.
    readOnlyTools: names(`
      echo get-annotated-message get-resource-links get-resource-reference get-structured-content get-sum
      get-tiny-image trigger-long-running-operation
    `),
    homepage: 'https://github.com/modelcontextprotocol/servers/tree/main/src/everything',
  },
  {
    name: 'fetch',
    category: 'web',
    description: 'Fetch -- web pages as text, Markdown or JSON',
    variables: [],
    command: 'npx',
    // The reference server is Python only; this one also refuses private addresses.
    args: ['-y', 'mcp-fetch-server@latest'],
    env: {},
    package: { registry: 'npm', name: 'mcp-fetch-server', version: 'latest', known: '1.1.2' },
    // An address, headers and proxy of the model's choice can carry data out, so none counts as only reading.
    readOnlyTools: [],
    homepage: 'https://github.com/zcaceres/fetch-mcp',
  },
  {
    name: 'git',
    category: 'development',
    description: 'Git -- history, branches, commits',
    variables: [],
    command: 'npx',
    args: ['-y', '@cyanheads/git-mcp-server@latest'],
    // Keeps it inside the project: repositories elsewhere are refused.
    env: { GIT_BASE_DIR: '${workspaceFolder}' },
    package: { registry: 'npm', name: '@cyanheads/git-mcp-server', version: 'latest', known: '2.15.3' },
    readOnlyTools: names(`
      git_status git_log git_show git_diff git_blame git_reflog git_changelog_analyze
      git_wrapup_instructions
    `),
    homepage: 'https://github.com/cyanheads/git-mcp-server',
  },
  {
    name: 'postgres',
    category: 'database',
    description: 'PostgreSQL -- schema, queries',
    variables: ['DATABASE_URL'],
    command: 'npx',
    // The reference server is archived and wants the password on its command line. This one asks for Node 22.5,
    // but only for SQLite; with PostgreSQL it runs on 20.
    args: ['-y', '@bytebase/dbhub@latest', '--transport', 'stdio'],
    env: { DSN: '${DATABASE_URL}' },
    package: { registry: 'npm', name: '@bytebase/dbhub', version: 'latest', known: '1.4.0' },
    // `execute_sql` runs any statement.
    readOnlyTools: ['search_objects'],
    homepage: 'https://github.com/bytebase/dbhub',
  },
  {
    name: 'sqlite',
    category: 'database',
    description: 'SQLite -- one database file',
    variables: ['SQLITE_PATH'],
    command: 'npx',
    args: ['-y', 'mcp-server-sqlite-npx@latest', '${SQLITE_PATH}'],
    env: {},
    package: { registry: 'npm', name: 'mcp-server-sqlite-npx', version: 'latest', known: '0.8.0' },
    // `read_query` takes SELECT only, and the driver runs the first statement only.
    readOnlyTools: ['read_query', 'list_tables', 'describe_table'],
    homepage: 'https://www.npmjs.com/package/mcp-server-sqlite-npx',
  },
  {
    name: 'brave-search',
    category: 'web',
    description: 'Brave Search -- web, news, images, places',
    variables: ['BRAVE_API_KEY'],
    command: 'npx',
    // Brave's own package; it takes the place of @modelcontextprotocol/server-brave-search.
    args: ['-y', '@brave/brave-search-mcp-server@latest', '--transport', 'stdio'],
    env: { BRAVE_API_KEY: '${BRAVE_API_KEY}' },
    package: { registry: 'npm', name: '@brave/brave-search-mcp-server', version: 'latest', known: '2.1.4' },
    readOnlyTools: names(`
      brave_web_search brave_local_search brave_video_search brave_image_search brave_news_search
      brave_summarizer brave_llm_context brave_place_search
    `),
    homepage: 'https://github.com/brave/brave-search-mcp-server',
  },
  {
    name: 'sentry',
    category: 'monitoring',
    description: 'Sentry -- errors, traces, releases',
    variables: ['SENTRY_ACCESS_TOKEN'],
    command: 'npx',
    // Asks for Node 22.13 since 0.37, yet starts and lists its tools on 20.
    args: ['-y', '@sentry/mcp-server@latest'],
    env: { SENTRY_ACCESS_TOKEN: '${SENTRY_ACCESS_TOKEN}' },
    package: { registry: 'npm', name: '@sentry/mcp-server', version: 'latest', known: '0.39.0' },
    readOnlyTools: names(`
      find_organizations find_projects search_events search_issues get_sentry_resource search_sentry_tools
    `),
    homepage: 'https://github.com/getsentry/sentry-mcp',
  },
]

/** The entry of that name, or undefined. */
export function catalogEntry(name: string): CatalogEntry | undefined {
  return CATALOG.find((entry) => entry.name === name)
}

/** The entry's argv with the package at an exact version; any other version is an error. */
export function pinnedArgs(entry: CatalogEntry, version: string): string[] {
  const { registry, name, version: written } = entry.package
  if (!EXACT[registry].test(version)) throw new Error(`not an exact ${registry} version: ${version}`)
  return entry.args.map((argument) => (argument === `${name}@${written}` ? `${name}@${version}` : argument))
}

// --- internal ---

// A version comes from a registry's answer; `name@npm:other` or `name@https://…` would run something else, and
// npm reads `1.2` as a range.
const EXACT: Record<CatalogPackage['registry'], RegExp> = {
  npm: /^\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.+-]+)?$/,
  pypi: /^\d+(?:\.[0-9A-Za-z]+)+$/,
}

/** Long lists stay readable as running text; one name a line would fill pages. */
function names(text: string): string[] {
  return text.trim().split(/\s+/)
}
