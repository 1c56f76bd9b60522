import type { BoundedRecord } from '../../../core/record/bounded-record.ts';
import type { RecordedAttempt, RecordedPlace, RecordedTry, RequestRecord } from '../../../core/record/record.ts';
import { SPAN } from '../../../core/record/semconv.ts';
import type { RecordField } from '../../../core/record/fields/record-field.ts';
import { RecurringTexts } from '../../../core/record/fields/recurring-texts.ts';
import { REQUEST_FIELDS } from '../../../core/record/fields/request-fields.ts';

/** Methods that HTTP defines; any other method is not a span name. */
export const METHODS: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'DELETE',
  'CONNECT',
  'OPTIONS',
  'TRACE',
  'PATCH',
  'QUERY',
]);

export const SERVER_FIELDS: readonly RecordField<BoundedRecord>[] = [
  { span: SPAN.httpMethod, as: 'text', value: ({ method }) => (METHODS.has(method) ? method : '_OTHER') },
  { span: SPAN.urlPath, as: 'text', value: 'path' },
  // The gateway's listeners use plain HTTP; the scheme in front of a proxy is not known reliably.
  { span: SPAN.urlScheme, as: 'text', value: () => 'http' },
  { span: SPAN.clientAddress, as: 'text', value: 'clientAddress' },
  { span: SPAN.requestId, as: 'unique', value: 'id' },
  { span: SPAN.httpRoute, as: 'text', value: 'route' },
  { span: SPAN.userAgent, as: 'text', value: 'userAgent' },
  ...REQUEST_FIELDS,
];

/** Attributes that an inference span has of its request. */
export const INFERENCE_FIELDS: readonly RecordField<RequestRecord>[] = [
  { span: SPAN.operationName, as: 'text', value: 'semconvName' },
  { span: SPAN.promptName, as: 'text', value: ({ prompt }) => prompt?.id },
  { span: SPAN.promptVersion, as: 'text', value: ({ prompt }) => prompt && String(prompt.version) },
  { span: SPAN.configId, as: 'text', value: 'configId' },
];

export const PLACE_FIELDS: readonly RecordField<RecordedPlace>[] = [
  { span: SPAN.providerName, as: 'text', value: 'semconvName' },
  { span: SPAN.requestModel, as: 'text', value: 'model' },
];

interface Server {
  readonly address: string;
  readonly port: number;
}

/** Parsing an address takes 1 µs (measured). */
export const SERVERS = new RecurringTexts<Server>((text) => {
  const url = new URL(text);
  return { address: url.hostname, port: Number(url.port) || (url.protocol === 'https:' ? 443 : 80) };
});

/** Attributes of the server behind an address, which inference spans and HTTP spans have. */
export const ADDRESS_FIELDS: readonly RecordField<string>[] = [
  { span: SPAN.serverAddress, as: 'text', value: (url) => SERVERS.of(url).address },
  { span: SPAN.serverPort, as: 'plain', value: (url) => SERVERS.of(url).port },
];

/** Attributes that the HTTP spans of one target share. */
export const CALL_FIELDS: readonly RecordField<string>[] = [
  { span: SPAN.httpMethod, as: 'text', value: () => 'POST' },
  { span: SPAN.urlFull, as: 'text', value: (url) => url },
  ...ADDRESS_FIELDS,
];

export const TRY_FIELDS: readonly RecordField<RecordedTry>[] = [
  { span: SPAN.httpStatus, as: 'plain', value: 'status' },
  { span: SPAN.errorType, as: 'text', value: ({ errorType }) => errorType || undefined },
];

/** Of the number of requests that came before a try. */
export const RESEND_FIELDS: readonly RecordField<number>[] = [
  { span: SPAN.httpResend, as: 'plain', value: (resent) => resent || undefined },
];

/** Attributes of an attempt by their names of v1.41, where those differ. */
export const EARLIER_FIELDS: readonly RecordField<RecordedAttempt>[] = [
  { span: 'gen_ai.usage.cache_creation.input_tokens', as: 'plain', value: ({ usage }) => usage?.cacheWrite },
];
