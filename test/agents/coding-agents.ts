import { AGENT_CONFIGS, TAKES_IMAGES } from '../../src/addons/agent-config/agents.ts';
import { KEY_ENV, type Agent, type Limit, type Run } from './agent.ts';

/** Coding agents. Their settings are what `gatehouse agent-config` prints. */

interface Program {
  readonly name: string;
  readonly program: string;
  readonly args: (run: Run) => readonly string[];
  /** Beside the variables of its settings. */
  readonly env?: (run: Run) => Readonly<Record<string, string>>;
  readonly limits?: readonly Limit[];
  readonly refusedOnce?: true;
  readonly tools: Agent['tools'];
}

function codingAgent({ name, program, args, env, limits = [], refusedOnce, tools }: Program): Agent {
  const config = AGENT_CONFIGS.find((config) => config.name === name);
  if (!config) throw new Error(`No agent ${name} in src/addons/agent-config.`);
  return {
    name,
    title: config.title,
    package: config.package,
    api: config.api,
    lines: config,
    notes: config.notes,
    direct: (identifier) => identifier,
    limits,
    resumes: true,
    ...(refusedOnce && { refusedOnce }),
    start(run) {
      const { url, model, facts } = run;
      const place = { url, model, keyEnv: KEY_ENV, ...(facts && { facts }) };
      return { program, args: args(run), env: { ...config.env(place), ...env?.(run) }, files: config.files(place) };
    },
    tools,
  };
}

/** A prompt names a file as `@FILE`. */
const mentions = ({ prompt, image }: Run): string => (image === undefined ? prompt : `${prompt} @${image}`);

const platform = `${process.platform}-${process.arch}`;

export const codex = codingAgent({
  name: 'codex',
  program: 'node_modules/@openai/codex/bin/codex.js',
  args: ({ prompt, image, resumes, provider }) => [
    'exec',
    '--skip-git-repo-check',
    // The network namespace and the temporary home are its sandbox.
    '--dangerously-bypass-approvals-and-sandbox',
    // Else each run ends 5 s later, when its maker's servers have not answered.
    '-c',
    'analytics.enabled=false',
    ...(provider === undefined ? [] : ['-c', `model_providers.gatehouse.name=${JSON.stringify(provider)}`]),
    ...(image === undefined ? [] : ['--image', image]),
    ...(resumes ? ['resume', '--last'] : []),
    // `--image` takes several files.
    '--',
    prompt,
  ],
  tools: () => ({
    shell: (cmd) => ({ name: 'exec_command', args: { cmd } }),
    write: (path, text) => ({ name: 'exec_command', args: { cmd: patchOf(path, text) } }),
    view: (path) => ({ name: 'view_image', args: { path } }),
  }),
});

/** Codex takes `apply_patch` as a command of its shell, whichever tools it has for the name of the model. */
const patchOf = (path: string, text: string): string =>
  `apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: ${path}\n${text.replaceAll(/^(?=.)/gm, '+')}*** End Patch\nEOF`;

export const claudeTools: Agent['tools'] = (work) => ({
  shell: (command) => ({ name: 'Bash', args: { command, description: 'A step' } }),
  write: (path, content) => ({ name: 'Write', args: { file_path: `${work}/${path}`, content } }),
  view: (path) => ({ name: 'Read', args: { file_path: `${work}/${path}` } }),
});

/** Claude Code asks several services of its vendor at its start. */
export const CLAUDE_QUIET = { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1' };

export const claude = codingAgent({
  name: 'claude',
  program: `node_modules/@anthropic-ai/claude-code-${platform}/claude`,
  args: (run) => [
    ...(run.resumes ? ['--continue'] : []),
    '-p',
    mentions(run),
    '--allowedTools',
    'Bash,Write,Read,Edit',
  ],
  env: () => CLAUDE_QUIET,
  // The gateway forbids it by `x-should-retry: false`: else it goes on for minutes.
  refusedOnce: true,
  tools: claudeTools,
});

export const gemini = codingAgent({
  name: 'gemini',
  program: 'node_modules/@google/gemini-cli/bundle/gemini.js',
  args: (run) => [
    ...(run.resumes ? ['--resume', 'latest'] : []),
    '--approval-mode',
    'yolo',
    '--skip-trust',
    '-p',
    mentions(run),
  ],
  limits: [
    {
      case: 'view',
      upstreams: ['gemini'],
      fault: 'the upstream refused: Error: Function responses stand in a content of their own',
      reason:
        'Gemini CLI puts the image beside the response of the tool, unless the name of the model begins with `gemini-3-`; Gemini 3 wants the image in the response. Give an alias of such a model such a name.',
    },
    {
      case: 'resume',
      upstreams: ['gemini'],
      fault: 'the upstream refused: Error: The number of function response parts',
      reason:
        'Gemini CLI 0.61 sends each response of a tool twice when it resumes a conversation (google-gemini/gemini-cli#29365), and Gemini refuses the second one. The gateway leaves the second one out for models of other APIs.',
    },
  ],
  tools: (work) => ({
    shell: (command) => ({ name: 'run_shell_command', args: { command, description: 'A step' } }),
    write: (path, content) => ({ name: 'write_file', args: { file_path: `${work}/${path}`, content } }),
    view: (path) => ({ name: 'read_file', args: { file_path: `${work}/${path}` } }),
  }),
});

export const opencode = codingAgent({
  name: 'opencode',
  program: `node_modules/opencode-${platform}/bin/opencode`,
  args: ({ prompt, thinking, image, resumes }) => [
    'run',
    prompt,
    ...(resumes ? ['--continue'] : []),
    ...(thinking ? ['--variant', 'high'] : []),
    ...(image === undefined ? [] : ['--file', image]),
  ],
  env: ({ model, thinking, sdk, image, facts }) => ({
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    // Settings that its page names, beside those of its file.
    OPENCODE_CONFIG_CONTENT: JSON.stringify({
      provider: {
        gatehouse: {
          ...(sdk !== undefined && { npm: sdk }),
          models: {
            [model]: {
              ...(thinking && { reasoning: true }),
              ...(image !== undefined && !facts?.images && TAKES_IMAGES),
            },
          },
        },
      },
    }),
  }),
  tools: (work) => ({
    shell: (command) => ({ name: 'bash', args: { command, description: 'A step' } }),
    write: (path, content) => ({ name: 'write', args: { filePath: `${work}/${path}`, content } }),
    view: (path) => ({ name: 'read', args: { filePath: `${work}/${path}` } }),
  }),
});
