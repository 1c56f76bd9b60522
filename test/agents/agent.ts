import type { AgentConfig, ConfigFile, PlaceFacts } from '../../src/addons/agent-config/agents.ts';
import type { Api } from './apis.ts';
import type { Toolbox } from './cases.ts';

/** An agent: how it runs without a person, how a model uses its tools, and its limits. */

/** Environment variable of the gateway key in every run. */
export const KEY_ENV = 'GATEHOUSE_API_KEY';

export interface Run {
  readonly url: string;
  readonly model: string;
  readonly prompt: string;
  readonly thinking: boolean;
  /** The SDK in place of the one in the settings of the agent. */
  readonly sdk: string | undefined;
  /** The name of the provider in place of the one in the settings of the agent. */
  readonly provider: string | undefined;
  /** The run continues the last conversation of the working folder. */
  readonly resumes: boolean;
  /** A file of the working folder that the user adds to the prompt. */
  readonly image: string | undefined;
  /** What the gateway says of the model. */
  readonly facts: PlaceFacts | undefined;
}

export interface Start {
  /** A file below the folder of the installed agents. Node runs it if its name ends with `js`. */
  readonly program: string;
  readonly args: readonly string[];
  /** A value `$GATEHOUSE_API_KEY` stands for the gateway key. */
  readonly env: Readonly<Record<string, string>>;
  readonly files: readonly ConfigFile[];
}

export interface Script {
  readonly path: string;
  /** Variables that its page exports. */
  readonly env: (place: Pick<Run, 'url'>) => Readonly<Record<string, string>>;
}

/** A case that the agent, or the API that it speaks, cannot do at some upstreams. */
export interface Limit {
  readonly case: string;
  /** Names of the upstreams. Default: all. */
  readonly upstreams?: readonly string[];
  /** How the fault of the run begins. Another fault is not this limit. */
  readonly fault: string;
  /** One sentence, for its page. */
  readonly reason: string;
}

export interface Agent {
  readonly name: string;
  readonly title: string;
  /** Its version stands in the table. */
  readonly package: string;
  readonly api: Api;
  /** The lines of its page: those of `gatehouse agent-config`, or the marked ones of a script. */
  readonly lines: AgentConfig | Script;
  /** One sentence each, for its page. */
  readonly notes: readonly string[];
  /** How it names a model by `@slug/model`; undefined if it takes aliases alone. */
  readonly direct: (identifier: string) => string | undefined;
  readonly limits: readonly Limit[];
  /** It sends a request whose key was refused once, and never again. */
  readonly refusedOnce?: true;
  /** The agent keeps its conversations, and replaces one that fills the context by a summary. */
  readonly resumes?: true;
  readonly start: (run: Run) => Start;
  readonly tools: (work: string) => Toolbox;
}

/** The limit that explains a fault. */
export const limitOf = (agent: Agent, cell: { readonly case: string; readonly upstream: string }): Limit | undefined =>
  agent.limits.find(
    (limit) => limit.case === cell.case && (limit.upstreams ?? [cell.upstream]).includes(cell.upstream),
  );

/** The fault is a limit of the agent that the table knows. */
export const isLimit = (limit: Limit | undefined, fault: string): boolean =>
  limit !== undefined && fault.startsWith(limit.fault);
