import { expect, test } from 'vitest'
import { type SearchDocument, ToolSearch } from './search.ts'

const SERVERS: Record<string, [string, string, string[]][]> = {
  github: [
    [
      'create_issue',
      'Create a new issue in a GitHub repository',
      ['owner', 'repo', 'title', 'body', 'labels'],
    ],
    ['list_issues', 'List issues in a repository with filtering options', ['owner', 'repo', 'state', 'sort']],
    ['add_issue_comment', 'Add a comment to an existing issue', ['owner', 'repo', 'issue_number', 'body']],
    ['create_pull_request', 'Open a new pull request from one branch to another', ['head', 'base', 'draft']],
    ['merge_pull_request', 'Merge a pull request', ['owner', 'repo', 'pull_number', 'merge_method']],
    [
      'get_pull_request_diff',
      'Get the changes of a pull request as a diff',
      ['owner', 'repo', 'pull_number'],
    ],
    ['search_code', 'Search for code across GitHub repositories', ['q', 'order', 'page']],
    ['search_repositories', 'Search for GitHub repositories', ['query', 'page']],
    ['create_branch', 'Create a new branch in a repository', ['branch', 'from_branch']],
    ['fork_repository', 'Fork a repository to your account or organization', ['owner', 'repo']],
    ['get_workflow_run_logs', 'Download the logs of a GitHub Actions workflow run', ['run_id']],
  ],
  filesystem: [
    ['read_text_file', 'Read the complete contents of a file as text', ['path', 'head', 'tail']],
    ['write_file', 'Create a new file or completely overwrite an existing file', ['path', 'content']],
    ['edit_file', 'Make line-based edits to a text file', ['path', 'edits', 'dryRun']],
    ['create_directory', 'Create a new directory or ensure a directory exists', ['path']],
    ['list_directory', 'Get a detailed listing of all files and directories in a path', ['path']],
    ['directory_tree', 'Get a recursive tree view of files and directories as JSON', ['path']],
    ['move_file', 'Move or rename files and directories', ['source', 'destination']],
    ['search_files', 'Recursively search for files and directories matching a pattern', ['path', 'pattern']],
    ['get_file_info', 'Retrieve size, times and permissions of a file or directory', ['path']],
  ],
  slack: [
    ['slack_post_message', 'Post a new message to a Slack channel', ['channel_id', 'text']],
    ['slack_reply_to_thread', 'Reply to a message thread', ['channel_id', 'thread_ts', 'text']],
    ['slack_list_channels', 'List public channels in the workspace', ['limit', 'cursor']],
    ['slack_get_channel_history', 'Get recent messages from a channel', ['channel_id', 'limit']],
    ['slack_add_reaction', 'Add an emoji reaction to a message', ['channel_id', 'timestamp', 'reaction']],
    ['slack_get_users', 'Get all users of the workspace with their profile', ['cursor']],
  ],
  postgres: [
    ['query', 'Run a read-only SQL query', ['sql']],
    ['list_tables', 'List all tables of a schema in the database', ['schema']],
    ['describe_table', 'Show the columns, types and indexes of a table', ['table']],
    ['explain_query', 'Explain the execution plan of a SQL statement', ['sql', 'analyze']],
  ],
  browser: [
    ['browser_navigate', 'Navigate to a URL', ['url']],
    ['browser_click', 'Click an element on a web page', ['element', 'ref']],
    ['browser_type', 'Type text into an editable element', ['element', 'text', 'submit']],
    ['browser_take_screenshot', 'Take a screenshot of the current page', ['filename', 'fullPage']],
    ['browser_console_messages', 'Returns all console messages', ['level']],
    ['browser_fill_form', 'Fill multiple form fields', ['fields']],
    ['browser_tabs', 'List, create, close or select a browser tab', ['action', 'index']],
  ],
  calendar: [
    ['list-events', 'List events from one or more calendars', ['calendarId', 'timeMin', 'timeMax']],
    ['create-event', 'Create a new calendar event', ['summary', 'start', 'end', 'attendees']],
    ['delete-event', 'Delete a calendar event', ['eventId']],
    ['get-freebusy', 'Query when people are free or busy', ['timeMin', 'timeMax', 'items']],
    ['get-current-time', 'Get the current date and time in a time zone', ['timeZone']],
  ],
  stripe: [
    ['create_customer', 'Create a new customer in Stripe', ['name', 'email']],
    ['list_invoices', 'List the invoices of a customer', ['customer', 'limit']],
    ['create_refund', 'Refund a payment intent, in full or partly', ['payment_intent', 'amount']],
    ['cancel_subscription', 'Cancel a subscription of a customer', ['subscription']],
    ['retrieve_balance', 'Retrieve the balance of the account', []],
    ['create_payment_link', 'Create a link at which a customer can pay a price', ['price', 'quantity']],
  ],
  mail: [
    ['sendEmail', 'Send an email with optional attachments', ['to', 'subject', 'body', 'cc']],
    ['searchEmails', 'Search the mailbox with Gmail query syntax', ['query', 'maxResults']],
    ['readEmail', 'Read one email with its attachments', ['messageId']],
    ['createDraft', 'Save an email as draft without sending it', ['to', 'subject', 'body']],
    ['modifyLabels', 'Add labels to an email or take them away', ['messageId', 'addLabels']],
  ],
  kubernetes: [
    ['pods_list', 'List all the Kubernetes pods in the cluster', ['labelSelector']],
    ['pods_log', 'Get the logs of a Kubernetes pod', ['name', 'namespace', 'container']],
    ['pods_exec', 'Execute a command in a pod', ['name', 'command']],
    ['resources_scale', 'Scale a deployment to a number of replicas', ['name', 'scale']],
  ],
  weather: [
    ['get_forecast', 'Weather forecast for a place', ['latitude', 'longitude', 'days']],
    ['get_alerts', 'Weather alerts for a US state', ['state']],
  ],
  memory: [
    ['create_entities', 'Create several new entities in the knowledge graph', ['entities']],
    ['search_nodes', 'Search for nodes in the knowledge graph', ['query']],
    ['天気を調べる', '都市の天気予報を取得します', ['都市']],
  ],
}

const TOOLS: SearchDocument[] = Object.entries(SERVERS).flatMap(([server, tools]) =>
  tools.map(([name, description, parameters]) => ({
    id: `${server}:${name}`,
    server,
    name,
    description,
    parameters,
  })),
)
const search = new ToolSearch(TOOLS)

const queries: [string, string][] = [
  ['create an issue on github', 'github:create_issue'],
  ['file a new bug in the repository', 'github:create_issue'],
  ['comment on issue', 'github:add_issue_comment'],
  ['open PR', 'github:create_pull_request'],
  ['merging pull requests', 'github:merge_pull_request'],
  ['what changed in the pull request', 'github:get_pull_request_diff'],
  ['find code', 'github:search_code'],
  ['CI logs of a failed workflow', 'github:get_workflow_run_logs'],
  ['read file contents', 'filesystem:read_text_file'],
  ['make a folder', 'filesystem:create_directory'],
  ['rename file', 'filesystem:move_file'],
  ['show all files in a folder', 'filesystem:list_directory'],
  ['find files by pattern', 'filesystem:search_files'],
  ['how big is this file', 'filesystem:get_file_info'],
  ['send a message to a slack channel', 'slack:slack_post_message'],
  ['answer in thread', 'slack:slack_reply_to_thread'],
  ['react with emoji', 'slack:slack_add_reaction'],
  ['run sql', 'postgres:query'],
  ['columns of a database table', 'postgres:describe_table'],
  ['why is my query slow, execution plan', 'postgres:explain_query'],
  ['take screenshot of website', 'browser:browser_take_screenshot'],
  ['go to url', 'browser:browser_navigate'],
  ['fill in a form', 'browser:browser_fill_form'],
  ['schedule a meeting in my calendar', 'calendar:create-event'],
  ['remove appointment', 'calendar:delete-event'],
  ['when is everybody free', 'calendar:get-freebusy'],
  ['give a customer their money back: refund payment', 'stripe:create_refund'],
  ['unpaid invoices', 'stripe:list_invoices'],
  ['cancel subscription', 'stripe:cancel_subscription'],
  ['email somebody', 'mail:sendEmail'],
  ['send mail with attachment', 'mail:sendEmail'],
  ['kubernetes logs', 'kubernetes:pods_log'],
  ['scale deployment replicas', 'kubernetes:resources_scale'],
  ['weather tomorrow forecast', 'weather:get_forecast'],
  ['screensh', 'browser:browser_take_screenshot'],
  ['kuberntes pods', 'kubernetes:pods_list'],
  ['createPullRequest', 'github:create_pull_request'],
  ['GITHUB FORK', 'github:fork_repository'],
  ['天気', 'memory:天気を調べる'],
]
for (const [query, id] of queries)
  test(`"${query}" finds ${id}`, () => {
    expect(search.search(query, 5).map((found) => found.id)).toContain(id)
  })

test('the words of a name find it first', () => {
  for (const { id, name } of TOOLS) {
    const [first] = search.search(name.replaceAll(/[_-]/g, ' '))
    expect(first?.id, name).toBe(id)
  }
})

test('a field that says more about a tool counts more', () => {
  const document = (id: string, rest: Partial<SearchDocument>): SearchDocument => ({
    id,
    server: 's',
    name: 'n',
    ...rest,
  })
  const fields = new ToolSearch([
    document('parameter', { parameters: ['invoice'] }),
    document('description', { description: 'invoice' }),
    document('server', { server: 'invoice' }),
    document('title', { title: 'invoice' }),
    document('name', { name: 'invoice' }),
  ])
  const order = ['name', 'title', 'server', 'description', 'parameter']
  expect(fields.search('invoices').map(({ id }) => id)).toEqual(order)
})

test('a long description is not held against a name, and of two names the shorter is meant', () => {
  const tools = new ToolSearch([
    { id: 'mentioned', server: 's', name: 'watch', description: 'Watch pods' },
    { id: 'long', server: 's', name: 'list_pods_in_namespace' },
    { id: 'named', server: 's', name: 'list_pods', description: 'Everything that there is. '.repeat(100) },
  ])
  expect(tools.search('pods').map(({ id }) => id)).toEqual(['named', 'long', 'mentioned'])
})

test('two words find what is written as one', () => {
  const tools = new ToolSearch([
    { id: 'back', server: 's', name: 'go_back', description: 'To the page before' },
    { id: 'version', server: 's', name: 'version_rollback', description: 'To an earlier version' },
  ])
  expect(tools.search('roll back to a version')[0]?.id).toBe('version')
  expect(tools.search('roll back')).toHaveLength(2)
})

test('equal tools are in the order of their ids, whatever order they came in', () => {
  const same = ['b', 'a', 'd', 'c'].map((id) => ({ id, server: 's', name: 'read' }))
  for (const documents of [same, same.toReversed()])
    expect(new ToolSearch(documents).search('read', 3).map(({ id }) => id)).toEqual(['a', 'b', 'c'])
})

test('gives no more than asked for, best first, and nothing for nothing', () => {
  const found = search.search('list create get search', 7)
  expect(found).toHaveLength(7)
  expect(found.map(({ score }) => score)).toEqual(found.map(({ score }) => score).toSorted((a, b) => b - a))
  expect(search.search('file', 0)).toEqual([])
  for (const query of ['', '   ', '!?', '\ud800', 'zzzzzzzzzz'])
    expect(search.search(query), query).toEqual([])
  expect(new ToolSearch([]).search('file')).toEqual([])
})

test('a query of words that tell nothing still looks for them', () => {
  const tool = { id: 'a', server: 's', name: 'how_to' }
  expect(new ToolSearch([tool]).search('how to').map(({ id }) => id)).toEqual(['a'])
})

test('words that are members of every object find nothing and break nothing', () => {
  const odd = new ToolSearch([{ id: '__proto__', server: 'constructor', name: 'toString' }])
  expect(odd.search('constructor').map(({ id }) => id)).toEqual(['__proto__'])
  expect(search.search('constructor __proto__ isPrototypeOf')).toEqual([])
})

test('a long query is searched by its beginning', () => {
  const words = 'refund payment '.repeat(50_000)
  expect(search.search(words)[0]?.id).toBe('stripe:create_refund')
})

test('whoever writes a whole name gets that tool first, whatever words it is made of', () => {
  const document = (server: string, name: string, description: string): SearchDocument => ({
    id: `${server}/${name}`,
    server,
    name,
    description,
  })
  const search = new ToolSearch([
    document('github', 'get_me', 'Who is signed in'),
    document('github', 'me_get_all', 'Get me, get all of me, get me again'),
    document('mail', 'get_me', 'The mailbox of who is signed in'),
    document('mail', 'a', 'One letter'),
  ])
  const first = (query: string) => search.search(query)[0]?.id
  expect(first('get_me')).toBe('github/get_me')
  for (const query of ['mail/get_me', 'mail:get_me', 'mcp__mail__get_me', 'mail get me', 'MAIL.get-me'])
    expect([query, first(query)]).toEqual([query, 'mail/get_me'])
  expect(first('a')).toBe('mail/a')
})
