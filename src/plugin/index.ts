/** The public plugin API: all that an external plugin may import. docs/plugins/api.md lists the names, and a test compares. */
export { Cancellation } from './cancellation.ts';
export type { Capabilities } from './capabilities.ts';
export type { Clock } from './clock.ts';
export type { Caller, GatewayConfig, Target } from './config.ts';
export {
  definePlugin,
  type Host,
  type Middleware,
  type Plugin,
  type PluginLevel,
  type PluginWords,
  type Step,
} from './define.ts';
export { changesOf } from './edits.ts';
export { ERRORS, type ErrorCode } from './error-codes.ts';
export { GatewayError, NotMine, UpstreamError } from './errors.ts';
export type {
  Attempt,
  AttemptContext,
  CacheStatus,
  Choice,
  Exchange,
  GatewayContext,
  Outbound,
  ResolvedTarget,
  SkippedTarget,
  TryRecord,
} from './exchange.ts';
export { failureKinds, type FailureKind } from './failures.ts';
export type { Reply, ReplyEnd, ReplyForm, Sink, Source } from './reply.ts';
export type { Edit, InboundRequest, ModelTask, Operation, RequestBody } from './request.ts';
export type {
  EndRecord,
  TextHold,
  PluginHooks,
  PluginReads,
  ReplyEvent,
  RequestTextView,
  RequestView,
  Unseen,
} from './hooks.ts';
export { replacing, type ReplacingOptions } from '../formats/texts/replacing.ts';
export type { TextChannel, TextKind, TextResult, TextTransform } from '../formats/texts/channels.ts';
export type {
  PluginCacheOptions,
  CallerMaker,
  FetchOptions,
  FetchReply,
  HostServices,
  MetricOptions,
  NewCaller,
  OwnError,
  PluginCache,
  PluginCounters,
  PluginMetrics,
  PluginState,
} from './services.ts';
export { Secret } from './secret.ts';
export { WrappedSource } from './wrapped-source.ts';
