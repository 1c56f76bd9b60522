import type { Conversation, JsonObject } from '../conversation.ts';
import type { RequestTarget } from '../request-target.ts';
import type { AnswerLimit } from './answer-limit.ts';
import type { McpServers } from './encode-mcp.ts';
import type { LossReport } from '../losses/losses.ts';
import type { ModelFacts } from './models.ts';
import type { ToolIds } from './tool-ids.ts';

/** State shared by all steps of encoding one request. */
export interface RequestContext {
  readonly conversation: Conversation;
  readonly target: RequestTarget;
  readonly facts: ModelFacts;
  readonly losses: LossReport;
  readonly ids: ToolIds;
  readonly servers: McpServers;
  readonly limit: AnswerLimit;
  /** True for a body that was written in this format: its own fields are sent unchanged. */
  readonly native: boolean;
}

/** A content block, a tool or a message of the wire. */
export type WireBlock = JsonObject;

export interface WireMessage {
  readonly role: 'user' | 'assistant' | 'system';
  content: WireBlock[];
}
