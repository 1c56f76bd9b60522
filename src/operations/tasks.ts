import type { ModelTask } from '../plugin/index.ts';

/** What the gateway knows of a task beyond its name. */
export interface TaskDescription {
  /** Completes "The model cannot be asked for …". */
  readonly result: string;
  /** What a model with this task is for; undefined where every model of another task may have it too. */
  readonly purpose: string | undefined;
  /** The request is a conversation in an API format. A provider's codec writes the body of any other task. */
  readonly isConversation: boolean;
  /** Replies report how many tokens were used. */
  readonly reportsUsage: boolean;
}

/** The one table of tasks. */
export const TASKS: Readonly<Record<ModelTask, TaskDescription>> = {
  generate: { result: 'an answer', purpose: 'answers', isConversation: true, reportsUsage: true },
  count_tokens: { result: 'a count of tokens', purpose: undefined, isConversation: true, reportsUsage: false },
  embeddings: { result: 'embeddings', purpose: 'embeddings', isConversation: false, reportsUsage: true },
  images: { result: 'images', purpose: 'images', isConversation: false, reportsUsage: false },
};

/** In the order of the table. */
export const MODEL_TASKS = Object.keys(TASKS) as readonly ModelTask[];
