import { AGENT_CONFIGS, TAKES_IMAGES } from '../../src/addons/agent-config/agents.ts';
import { API } from './apis.ts';
import { KEY_ENV, type Agent, type Limit, type Run } from './agent.ts';

/** Coding agents. Their settings are what `gatehouse agent-config` prints. */

interface Program extends Pick<Agent, 'title' | 'package' | 'api' | 'notes'> {
  readonly name: string;
  readonly program: string;
  readonly args: (run: Run) => readonly string[];
  /** Beside the variables of its settings. */
  readonly env?: (run: Run) => Readonly<Record<string, string>>;
  readonly limits?: readonly Limit[];
  readonly refusedOnce?: true;
  readonly tools: Agent['tools'];
}

function codingAgent({ name, program, args, env, limits = [], refusedOnce, tools, ...about }: Program): Agent {
  const config = AGENT_CONFIGS.find((config) => config.name === name);
  if (!config) throw new Error(`No agent ${name} in src/addons/agent-config.`);
  return {
    name,
    ...about,
    lines: config,
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
  title: 'Codex CLI',
  package: '@openai/codex',
  api: API.responses,
  notes: [
    'With an API key Codex does not request a list of models. When the gateway answers, `agent-config` writes the list of the gateway to `~/.codex/gatehouse-models.json` and names this file in `model_catalog_json`: the picker of Codex then shows the models of the gateway, with their context windows and efforts.',
    '`gatehouse-models.json` replaces the list that is built into Codex. Leave `model_catalog_json` out for an alias with a name in the built-in list, such as `gpt-5.5` or `team/gpt-5.5`: Codex then uses the instructions and tools of that model, with any upstream.',
    'Codex requests the thoughts of a model that has efforts in `gatehouse-models.json`. For a model that the gateway does not know, `efforts` of the alias names the efforts.',
    'Without `gatehouse-models.json` Codex warns about a name outside the built-in list, and gives the model general tools; set `model_reasoning_effort = "high"` for a model that thinks.',
    'Codex compacts a long conversation with a prompt of its own. With `name = "OpenAI"` in place of `name = "Gatehouse"` Codex requests the compaction from the gateway: a model of OpenAI compacts natively, and any other model writes a summary.',
    'The web search of Codex reads only pages that OpenAI has cached, so a model of another vendor gets no search. With `web_search = "live"` in `config.toml` it gets its own.',
  ],
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
  title: 'Claude Code',
  package: '@anthropic-ai/claude-code',
  api: API.messages,
  notes: [
    'Claude Code assumes a context of 1 million tokens for a name outside its built-in list. `agent-config` sets `CLAUDE_CODE_MAX_CONTEXT_TOKENS` to the input that the gateway names for the model.',
    'With `CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY=1` the model picker of Claude Code shows the models of the gateway whose names contain “claude” or “anthropic”.',
  ],
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
  title: 'Gemini CLI',
  package: '@google/gemini-cli',
  api: API.generate,
  notes: [
    'The picker of Gemini CLI, `/model`, shows built-in names of Gemini models, and does not request the list of the gateway (source of 0.61.0). Choose another model with `GEMINI_MODEL`, `--model`, or `/model set NAME`.',
    'For side tasks Gemini CLI requests built-in models: it compresses a long conversation with `gemini-3-pro-preview` and searches the web with `gemini-3-flash-preview`. `customOverrides` makes Gemini CLI use MODEL for these tasks.',
    'Gemini CLI assumes a context of 1,048,576 tokens for every name, and compresses a conversation at half of that. When the gateway answers, `agent-config` sets `compressionThreshold` for a model with a smaller context.',
  ],
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
  title: 'opencode',
  package: 'opencode-ai',
  api: API.messages,
  notes: [
    'These settings name the SDK of the Messages API, whose blocks of thinking keep the signatures of Gemini and of Claude. `@ai-sdk/openai` speaks the Responses API.',
    '`@ai-sdk/openai-compatible` speaks chat completions. A strict reply has no `extra_content.google.thought_signature`, which Gemini 3 wants back in loops of tools: `options` need `"headers": { "x-gateway-strict-open-ai-compliance": "false" }`, and the provider the name `google`, because this SDK returns the signatures under that name only. This SDK returns no signatures of Claude.',
    '`agent-config` takes the `limit` of the model from the gateway. Without a limit opencode does not compact a conversation, and the model refuses the conversation when it is too long.',
    'A model that takes images needs `"attachment": true` and `"modalities": { "input": ["text", "image"], "output": ["text"] }` beside `limit`: `agent-config` writes both for a model that the gateway knows. Without them opencode sends an error message in place of an image.',
    'Set `"reasoning": true` beside `limit` for a model that thinks, and choose a variant, such as `--variant high`: opencode then requests the thoughts of the model.',
  ],
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
