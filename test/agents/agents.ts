import { AGENT_CONFIGS, type AgentConfig, type ConfigFile } from '../../src/cli/agents/agents.ts';
import type { Toolbox } from './cases.ts';

/** The agents: how each is run without a person, and how a model uses its tools. */

export interface Run {
  readonly url: string;
  readonly model: string;
  readonly prompt: string;
  readonly thinking: boolean;
}

export interface Start {
  /** A file below the folder of the installed agents. Run by Node if its name ends with `js`. */
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly files: readonly ConfigFile[];
}

export interface Agent {
  readonly name: string;
  readonly title: string;
  /** Its version stands in the table. */
  readonly package: string;
  /** Of an SDK: the script whose marked lines its page shows. */
  readonly sdk?: Pick<SdkNames, 'api' | 'env' | 'notes'> & { readonly script: string };
  readonly start: (run: Run) => Start;
  readonly tools: (work: string, names: readonly string[]) => Toolbox;
  /** Cases that it cannot run, with the reason. */
  readonly lacks?: Readonly<Record<string, string>>;
}

/** Environment variable of the gateway key in every run. */
export const KEY_ENV = 'GATEHOUSE_API_KEY';

function configOf(name: string): AgentConfig {
  const found = AGENT_CONFIGS.find((config) => config.name === name);
  if (!found) throw new Error(`No agent ${name} in src/cli/agents.`);
  return found;
}

/** What `gatehouse agent-config` prints, as a run gets it. */
function pasted(name: string, { url, model }: Run): Pick<Start, 'env' | 'files'> {
  const place = { url, model, keyEnv: KEY_ENV };
  const config = configOf(name);
  return { env: config.env(place), files: config.files(place) };
}

const platform = `${process.platform}-${process.arch}`;

const codex: Agent = {
  name: 'codex',
  title: 'Codex CLI',
  package: '@openai/codex',
  start(run) {
    const { env, files } = pasted('codex', run);
    const thinks = ['-c', 'model_supports_reasoning_summaries=true', '-c', 'model_reasoning_effort="high"'];
    return {
      program: 'node_modules/@openai/codex/bin/codex.js',
      // The network namespace and the temporary home are its sandbox.
      args: [
        'exec',
        '--skip-git-repo-check',
        '--dangerously-bypass-approvals-and-sandbox',
        // Else each run ends 5 s later, when its maker's servers have not answered.
        '-c',
        'analytics.enabled=false',
        ...(run.thinking ? thinks : []),
        run.prompt,
      ],
      env,
      files,
    };
  },
  tools: () => ({
    shell: (cmd) => ({ name: 'exec_command', args: { cmd } }),
    write: (path, text) => ({
      name: 'exec_command',
      args: {
        cmd: `apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: ${path}\n${text.replaceAll(/^(?=.)/gm, '+')}*** End Patch\nEOF`,
      },
    }),
  }),
};

const claudeTools: Agent['tools'] = (work) => ({
  shell: (command) => ({ name: 'Bash', args: { command, description: 'A step' } }),
  write: (path, content) => ({ name: 'Write', args: { file_path: `${work}/${path}`, content } }),
});

/** Claude Code asks several services of its vendor at its start. */
const QUIET = { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1' };

const claude: Agent = {
  name: 'claude',
  title: 'Claude Code',
  package: '@anthropic-ai/claude-code',
  start(run) {
    const { env, files } = pasted('claude', run);
    return {
      program: `node_modules/@anthropic-ai/claude-code-${platform}/claude`,
      args: ['-p', run.prompt, '--allowedTools', 'Bash,Write,Read,Edit'],
      env: { ...env, ...QUIET },
      files,
    };
  },
  tools: claudeTools,
};

const gemini: Agent = {
  name: 'gemini',
  title: 'Gemini CLI',
  package: '@google/gemini-cli',
  start(run) {
    const { env, files } = pasted('gemini', run);
    return {
      program: 'node_modules/@google/gemini-cli/bundle/gemini.js',
      args: ['--approval-mode', 'yolo', '--skip-trust', '-p', run.prompt],
      env,
      files,
    };
  },
  tools: (work) => ({
    shell: (command) => ({ name: 'run_shell_command', args: { command, description: 'A step' } }),
    write: (path, content) => ({ name: 'write_file', args: { file_path: `${work}/${path}`, content } }),
  }),
};

const opencode: Agent = {
  name: 'opencode',
  title: 'opencode',
  package: 'opencode-ai',
  start(run) {
    const { env, files } = pasted('opencode', run);
    return {
      program: `node_modules/opencode-${platform}/bin/opencode`,
      args: ['run', run.prompt],
      env: { ...env, OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' },
      files,
    };
  },
  tools: (work) => ({
    shell: (command) => ({ name: 'bash', args: { command, description: 'A step' } }),
    write: (path, content) => ({ name: 'write', args: { filePath: `${work}/${path}`, content } }),
  }),
};

interface SdkNames {
  readonly name: string;
  readonly title: string;
  readonly package: string;
  /** API of the gateway that it speaks. */
  readonly api: string;
  /** One sentence each, for its page. */
  readonly notes?: readonly string[];
  readonly env?: (place: Pick<Run, 'url'>) => Readonly<Record<string, string>>;
}

/** An SDK in a script of sdk/, with two tools of the script's own. */
const sdk = ({ name, title, package: packageName, api, notes, env }: SdkNames): Agent => ({
  name,
  title,
  package: packageName,
  sdk: { script: `sdk/${name}.js`, api, ...(notes && { notes }), ...(env && { env }) },
  start: (run) => ({
    program: `sdk/${name}.js`,
    args: [],
    env: {
      GATEHOUSE_URL: run.url,
      MODEL: run.model,
      PROMPT: run.prompt,
      THINKING: run.thinking ? '1' : '0',
      ...env?.(run),
    },
    files: [],
  }),
  tools: () => ({
    shell: (command) => ({ name: 'shell', args: { command } }),
    write: (path, content) => ({ name: 'write_file', args: { path, content } }),
  }),
});

const RESPONSES = 'POST /v1/responses';
const MESSAGES = 'POST /v1/messages';
const GENERATE = 'POST /v1beta/models/{model}:streamGenerateContent';

export const AGENTS: readonly Agent[] = [
  codex,
  claude,
  {
    ...sdk({
      name: 'claude-agent-sdk',
      title: 'Claude Agent SDK',
      package: '@anthropic-ai/claude-agent-sdk',
      api: MESSAGES,
    }),
    tools: claudeTools,
  },
  gemini,
  opencode,
  sdk({
    name: 'openai-agents',
    title: 'OpenAI Agents SDK',
    package: '@openai/agents',
    api: RESPONSES,
    notes: ['`setTracingDisabled` stops the traces that the SDK otherwise sends to OpenAI.'],
    env: ({ url }) => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: `$${KEY_ENV}` }),
  }),
  sdk({
    name: 'ai-openai',
    title: 'AI SDK, openai',
    package: '@ai-sdk/openai',
    api: RESPONSES,
    notes: [
      'Give `providerOptions` to each call. With `store: false` the SDK sends whole items and no references to kept ones.',
    ],
  }),
  sdk({
    name: 'ai-google',
    title: 'AI SDK, google',
    package: '@ai-sdk/google',
    api: GENERATE,
  }),
  sdk({ name: 'ai-anthropic', title: 'AI SDK, anthropic', package: '@ai-sdk/anthropic', api: MESSAGES }),
  sdk({
    name: 'langchain-openai',
    title: 'LangChain, OpenAI',
    package: '@langchain/openai',
    api: RESPONSES,
  }),
  sdk({
    name: 'langchain-google',
    title: 'LangChain, Google',
    package: '@langchain/google-genai',
    api: GENERATE,
    notes: [
      'An alias with a slash is a 404: it takes such a name for a path.',
      'It ignores an error in a stream: a stream that breaks ends as a short answer.',
      'It sends the results of parallel calls in contents of their own; the scripted Gemini wants them in one.',
      'It does not return the thoughts of Claude, which answers without them.',
    ],
  }),
  sdk({ name: 'langchain-anthropic', title: 'LangChain, Anthropic', package: '@langchain/anthropic', api: MESSAGES }),
  sdk({ name: 'genai', title: 'Google Gen AI SDK', package: '@google/genai', api: GENERATE }),
];
