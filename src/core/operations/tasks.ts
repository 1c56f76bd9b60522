import type { ModelTask } from '../../plugin/index.ts';

/** The properties of a task. */
interface TaskDescription {
  /** Completes "The model cannot produce …". */
  readonly result: string;
  /** The purpose of a model with this task; undefined for a task that models of other tasks also have. */
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
  completions: { result: 'completions', purpose: 'completions', isConversation: false, reportsUsage: true },
  moderations: { result: 'moderation results', purpose: 'moderation', isConversation: false, reportsUsage: false },
  transcriptions: { result: 'transcriptions', purpose: 'transcriptions', isConversation: false, reportsUsage: true },
  translations: {
    result: 'translations of audio',
    purpose: 'translations',
    isConversation: false,
    reportsUsage: false,
  },
  image_edits: { result: 'edited images', purpose: 'image edits', isConversation: false, reportsUsage: false },
  image_variations: {
    result: 'variations of images',
    purpose: 'image variations',
    isConversation: false,
    reportsUsage: false,
  },
  speech: { result: 'speech', purpose: 'speech', isConversation: false, reportsUsage: false },
};

/** All tasks, in the order of the table. */
export const MODEL_TASKS = Object.keys(TASKS) as readonly ModelTask[];
