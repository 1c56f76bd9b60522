import type { Operation } from '../plugin/index.ts';
import { chatCompletions } from './chat-completions.ts';

/** Every operation the gateway serves. */
export const operations: readonly Operation[] = [chatCompletions];
