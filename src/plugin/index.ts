/** The public plugin API: everything of Gatehouse that a plugin, built-in or external, may import. */
export { Cancellation, type CancelListener } from './cancellation.ts';
export type {
  AttemptRunner,
  RequestBudgets,
  BudgetRules,
  CachedReply,
  Capabilities,
  CapabilityName,
  ConfigDirectory,
  Embedded,
  EmbedRequest,
  HealthDirectory,
  FoundPrompt,
  HealthTrial,
  CertificateRules,
  KeyRing,
  AliasDirectory,
  ListedModel,
  ListedPrompt,
  ListedVersion,
  ModelDirectory,
  MediaInliner,
  PromptDirectory,
  Recorder,
  FormLimits,
  RequestLimits,
  ReplyCache,
  RequestRecording,
  Prepared,
  SemanticCache,
  Sender,
  TargetHealth,
  TargetResolver,
  Translator,
  UploadGrants,
} from './capabilities.ts';
export { systemClock, type Clock } from './clock.ts';
export {
  definePlugin,
  isCreated,
  toMiddleware,
  type CreatedPlugin,
  type Host,
  type Middleware,
  type Plugin,
  PLUGIN_LEVELS,
  type PluginLevel,
  type PluginWords,
  type Step,
} from './define.ts';
export { changesOf, type Change } from './changes.ts';
export { applyEdit, mergeEdits, mergeLevels, type Edit } from './edits.ts';
export { ERRORS, type ErrorCode, type ErrorType } from './error-codes.ts';
export { GatewayError, toGatewayError, UpstreamError, type ErrorDetails } from './errors.ts';
export type { UpstreamReport } from './upstream-report.ts';
export { unwantedReply, type ReplyEnding, type UnwantedReplies } from './unwanted-replies.ts';
export type {
  Attempt,
  AttemptBudget,
  AttemptContext,
  Batch,
  CacheStatus,
  Choice,
  ChoiceReason,
  ChosenBranch,
  Exchange,
  GatewayContext,
  Outbound,
  ReplyReaderLike,
  ResolvedTarget,
  SentFile,
  SkippedTarget,
  TraceContext,
  TryRecord,
  UsedAlias,
  KeptTurn,
  UsedPrompt,
} from './exchange.ts';
export type {
  ComparedText,
  EmbeddingCall,
  KeptText,
  SemanticLookup,
  SemanticResult,
  TextFacts,
  TextPlace,
  Uncompared,
} from './semantic.ts';
export {
  LIMIT_KINDS,
  LIMITED_KINDS,
  type AppliedLimit,
  type CallerLimits,
  type LimitedKind,
  type LimitKind,
  type RateFigure,
  type RateFigures,
  type RefusedLimit,
} from './rate-limits.ts';
export type { RateGates, TargetTicket } from './rate-gates.ts';
export type { ClientCertificate, ConditionInput, InboundRequest } from './inbound-request.ts';
export { bodyKind, type BodyFault, type ModelTask, type Operation, type PathParams } from './operation.ts';
export { holdsKeyShape } from './secret.ts';
export { NO_TURNS, type Limit, type Turns, type TurnTaker } from './turns.ts';
export type { JsonLimits } from './json-scan.ts';
export { cancelReply, errorReply, heldReply, toClientError } from './reply.ts';
export type { ReplyWithForm, Reply, ReplyEnd, ReplyForm, Sink, Source } from './reply.ts';
export { WrappedSource } from './wrapped-source.ts';
export { bareName } from './part-names.ts';
export { readForm, type InboundForm, type InboundFormReading } from './inbound-form.ts';
export { FormBody } from './form-body.ts';
export { FormScanner, type FormToken } from './form-scanner.ts';
export { RequestBody } from './request-body.ts';
export { Secret } from './secret.ts';
export {
  FAILURE_KINDS,
  failureKinds,
  isFinalForModel,
  isOfCallersToken,
  isOfAccount,
  isOfModel,
  isSilence,
  fallsThroughTo,
  countsAgainstTarget,
  type FailureKind,
  type FallThroughRules,
} from './failures.ts';
export type {
  Branch,
  BreakerSettings,
  CacheSettings,
  Caller,
  CommitMode,
  Conditional,
  CustomHostSettings,
  FieldSettings,
  FileLimits,
  GatewayConfig,
  Group,
  HashField,
  MessagesRoute,
  MetadataRules,
  NamedChain,
  RemoteMediaSettings,
  ReplyHeader,
  RetrySettings,
  Route,
  SemanticSettings,
  StickySettings,
  Target,
  Timeouts,
  TimeoutSettings,
} from './settings.ts';
export {
  FILE_PURPOSES,
  PIECE_UNIT,
  UPLOAD_ID,
  UPLOAD_LIFE_MS,
  type FilePage,
  type FilePurpose,
  type FileQuery,
  type AnnouncedFile,
  type FilePiece,
  type FileService,
  type UploadsInPieces,
  type StoredFile,
} from './files.ts';
export {
  familyOf,
  hasReferences,
  isReference,
  isUnreadable,
  type KeptItem,
  type KeptNames,
  type KeptResponse,
  type MaybePromise,
  type NewResponse,
  type ResponseService,
} from './responses.ts';
