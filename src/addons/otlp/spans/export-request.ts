import type { Attributes } from '@opentelemetry/api';
import { attribute, RESOURCE_ATTRIBUTE } from './attribute-bytes.ts';
import { delimited, utf8, varint, type Bytes } from './protobuf.ts';

export interface SpanOrigin {
  readonly resource: { readonly attributes: Attributes; readonly schemaUrl?: string | undefined };
  readonly name: string;
  readonly version: string;
}

// Fields of `ExportTraceServiceRequest`, `ResourceSpans`, `ScopeSpans`, `Resource` and `InstrumentationScope`.
const RESOURCE_SPANS = '\x0a';
const RESOURCE = '\x0a';
const NO_DROPPED_ATTRIBUTES = '\x10\0';
const SCOPE_SPANS = '\x12';
const SCOPE = '\x0a';
const SCOPE_NAME = '\x0a';
const SCOPE_VERSION = '\x12';
const SCHEMA_URL = '\x1a';

/** Compiles the request that exports spans. @param spans fields of `ScopeSpans` */
export function exportRequest({ resource, name, version }: SpanOrigin): (spans: Buffer) => Buffer {
  const attributes = Object.entries(resource.attributes).map(([key, value]) =>
    value === undefined ? '' : attribute(key, value, RESOURCE_ATTRIBUTE),
  );
  const origin = delimited(RESOURCE, attributes.join('') + NO_DROPPED_ATTRIBUTES);
  const scope = delimited(SCOPE, delimited(SCOPE_NAME, utf8(name)) + delimited(SCOPE_VERSION, utf8(version)));
  const after = resource.schemaUrl ? delimited(SCHEMA_URL, utf8(resource.schemaUrl)) : '';
  return (spans) => {
    const before = origin + SCOPE_SPANS + varint(scope.length + spans.length) + scope;
    const start = RESOURCE_SPANS + varint(before.length + spans.length + after.length) + before;
    return Buffer.concat([bufferOf(start), spans, bufferOf(after)]);
  };
}

const bufferOf = (bytes: Bytes): Buffer => Buffer.from(bytes, 'latin1');
