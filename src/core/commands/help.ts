/** Help texts of the commands with the most options. */
interface Help {
  readonly usage: string;
  readonly help: string;
}

const lines = (...parts: readonly string[]): string => parts.join('\n');

export const SERVE_HELP: Help = {
  usage: 'serve [--configs DIR] [--workers N|auto]',
  help: lines(
    'Start the gateway. DIR holds server.yaml, catalog.yaml, keys.yaml and gateway/; default: configs',
    '--workers N  serve with N processes; auto: one for each processor',
    'Exit code 0: stopped, 1: errors in the settings, or requests were cut, 2: wrong usage, 3: cannot listen',
  ),
};

export const IMPORT_HELP: Help = {
  usage: 'import portkey|litellm FILE... --to DIR',
  help: lines(
    'Write a settings folder from files of another gateway, and list what it does not have, with the reason',
    'portkey  gateway configs, and lists of configs, providers and API keys of the admin API, as JSON',
    'litellm  config.yaml of the proxy, and lists of models, credentials, keys and teams of the admin API',
    'Secrets become references to variables. Exit code 0: written and valid, 1: not written, or errors, 2: wrong usage',
  ),
};

export const AGENT_CONFIG_HELP: Help = {
  usage: 'agent-config codex|claude|gemini|opencode [--url URL] [--key-env NAME] [--model MODEL]',
  help: lines(
    'Print the lines that point a coding agent at a gateway, for a shell. They have the limits of the model if the',
    'gateway answers. Without an answer they have none, and a note on stderr says so',
    '--url URL       address of the gateway; default: http://127.0.0.1:8787',
    '--key-env NAME  environment variable with the gateway key; default: GATEHOUSE_API_KEY',
    '--model MODEL   an alias of catalog.yaml, or @SLUG/MODEL; default: the word MODEL, for you to replace',
    'Exit code 0: printed, 1: the gateway does not have the model, 2: wrong usage, or no such agent',
  ),
};

export const EXPLAIN_HELP: Help = {
  usage: lines(
    "explain --request FILE [--configs DIR] [--header 'NAME: VALUE']... [--key ID] [--method METHOD]",
    '        [--path PATH] [--draw N]... [--at MOMENT] [--json] [--color auto|always|never]',
  ),
  help: lines(
    'Show the targets of a request and the requests that would be sent, without calling any upstream.',
    '--request FILE  the body as JSON, or a whole request: { "method", "path", "headers", "body" }; -: standard input',
    '--key ID        the caller is this key of keys.yaml; default: a key without limits',
    '--draw N        random number (0 <= N < 1) for load balancing; default: 0',
    '--at MOMENT     time of the request, such as 2027-01-01T00:00:00Z; default: now',
    'Exit code 0: explained, 1: errors in the settings, or a plugin did not end, 2: wrong usage',
  ),
};

export const TEST_HELP: Help = {
  usage: 'test [DIR] [--filter TEXT] [--bail] [--reporter pretty|junit|github] [--watch]',
  help: lines(
    'Run the tests in the settings folder (*.test.yaml), without a network. Default for DIR: configs',
    '--filter TEXT  only cases with TEXT in their name or file',
    '--bail         stop at the first failure',
    '--reporter     pretty: for people (default); junit: XML; github: annotations of GitHub Actions',
    '--watch        run again when a file changes',
    'Exit code 0: all passed, 1: some failed, or errors in the files, 2: wrong usage, or no tests',
  ),
};
