import { API } from './apis.ts';
import { KEY_ENV, type Agent, type Run, type Script } from './agent.ts';
import { CLAUDE_QUIET, claudeTools } from './coding-agents.ts';

/** SDKs, each in a script of sdk/ that gives the model two tools. */

interface Sdk
  extends
    Pick<Agent, 'name' | 'title' | 'package' | 'api'>,
    Partial<Pick<Agent, 'notes' | 'direct' | 'limits' | 'refusedOnce' | 'resumes' | 'tools'>> {
  /** Variables that its page exports. */
  readonly env?: Script['env'];
  /** Variables of the runs alone. */
  readonly unlisted?: (run: Run) => Readonly<Record<string, string>>;
}

const scriptTools: Agent['tools'] = () => ({
  shell: (command) => ({ name: 'shell', args: { command } }),
  write: (path, content) => ({ name: 'write_file', args: { path, content } }),
});

function inScript({ env = () => ({}), unlisted = () => ({}), ...sdk }: Sdk): Agent {
  const path = `sdk/${sdk.name}.js`;
  return {
    notes: [],
    direct: (identifier) => identifier,
    limits: [],
    tools: scriptTools,
    ...sdk,
    lines: { path, env },
    start: (run) => ({
      program: path,
      args: [],
      env: {
        GATEHOUSE_URL: run.url,
        MODEL: run.model,
        PROMPT: run.prompt,
        THINKING: run.thinking ? '1' : '0',
        ...(run.resumes && { RESUME: '1' }),
        ...(run.image !== undefined && { IMAGE: run.image }),
        ...env(run),
        ...unlisted(run),
      },
      files: [],
    }),
  };
}

const SHORT_ANSWER = 'ended with 0 and without a readable message';

export const SDKS: readonly Agent[] = [
  inScript({
    name: 'claude-agent-sdk',
    title: 'Claude Agent SDK',
    package: '@anthropic-ai/claude-agent-sdk',
    api: API.messages,
    notes: [
      'Give `options` to each `query`.',
      'For a name that it does not know the SDK assumes a context of 1 million tokens: put the input of the model into `CLAUDE_CODE_MAX_CONTEXT_TOKENS`, else the SDK does not compact a conversation in time.',
    ],
    unlisted: ({ facts }) => ({
      ...CLAUDE_QUIET,
      ...(facts?.input !== undefined && { CLAUDE_CODE_MAX_CONTEXT_TOKENS: String(facts.input) }),
    }),
    refusedOnce: true,
    resumes: true,
    tools: claudeTools,
  }),
  inScript({
    name: 'openai-agents',
    title: 'OpenAI Agents SDK',
    package: '@openai/agents',
    api: API.responses,
    notes: [
      'Give `agent` to each `run`.',
      '`setTracingDisabled` stops the traces that the SDK otherwise sends to OpenAI.',
    ],
    env: ({ url }) => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: `$${KEY_ENV}` }),
  }),
  inScript({
    name: 'ai-openai',
    title: 'AI SDK, openai',
    package: '@ai-sdk/openai',
    api: API.responses,
    notes: [
      'Give `providerOptions` to each call. With `store: false` the SDK sends whole items. Without it the SDK sends ids of earlier items, which work only while the gateway [keeps the responses](../route/responses.md).',
    ],
  }),
  inScript({
    name: 'ai-google',
    title: 'AI SDK, google',
    package: '@ai-sdk/google',
    api: API.generate,
  }),
  inScript({ name: 'ai-anthropic', title: 'AI SDK, anthropic', package: '@ai-sdk/anthropic', api: API.messages }),
  inScript({
    name: 'langchain-openai',
    title: 'LangChain, OpenAI',
    package: '@langchain/openai',
    api: API.responses,
    limits: [
      {
        case: 'thinking',
        upstreams: ['claude-vertex', 'claude', 'openai-chat', 'openai'],
        fault: 'the model was not asked to think',
        reason: "LangChain sends `reasoning` only for names that it takes for those of OpenAI's reasoning models.",
      },
    ],
  }),
  inScript({
    name: 'langchain-google',
    title: 'LangChain, Google',
    package: '@langchain/google-genai',
    api: API.generate,
    limits: [
      {
        case: 'cut',
        fault: SHORT_ANSWER,
        reason: 'LangChain ignores an error in a stream: a stream that breaks looks like a short answer.',
      },
      {
        case: 'parallel',
        upstreams: ['gemini'],
        fault: 'the upstream refused: Error: The number of function response parts',
        reason:
          'LangChain sends the result of each parallel call in a content of its own. The scripted Gemini demands all of them in one content.',
      },
      {
        case: 'image',
        fault: 'did not give the last answer of the model',
        reason:
          'LangChain refuses images, unless the name of the model begins with `gemini-2`, `gemini-3` or another one in a list of its own. Give an alias such a name.',
      },
    ],
  }),
  inScript({
    name: 'langchain-anthropic',
    title: 'LangChain, Anthropic',
    package: '@langchain/anthropic',
    api: API.messages,
  }),
  inScript({ name: 'genai', title: 'Google Gen AI SDK', package: '@google/genai', api: API.generate }),
];
