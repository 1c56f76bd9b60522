import type { AttributeValue } from '@opentelemetry/api';
import { delimited, double, utf8, varint, type Bytes } from './protobuf.ts';
import { RecurringTexts } from '../../../core/record/fields/recurring-texts.ts';

// Fields of `KeyValue`, `AnyValue` and `ArrayValue` (opentelemetry/proto/common/v1/common.proto).
const KEY = '\x0a';
const VALUE = '\x12';
const TEXT = '\x0a';
const BOOL = '\x10';
const INT = '\x18';
const DOUBLE = '\x21';
const ARRAY = '\x2a';
const ITEM = '\x0a';

/** `attributes` of a span (trace.proto), and of a resource (resource.proto). */
const SPAN_ATTRIBUTE = '\x4a';
export const RESOURCE_ATTRIBUTE = '\x0a';

/** An attribute of a span, or with another tag of something else. */
export const attribute = (key: string, value: AttributeValue, tag: Bytes = SPAN_ATTRIBUTE): Bytes =>
  delimited(tag, delimited(KEY, utf8(key)) + delimited(VALUE, anyValue(value)));

/** Nothing for values that neither spans nor resources have: other objects. */
function anyValue(value: unknown): Bytes {
  if (typeof value === 'string') return delimited(TEXT, utf8(value));
  if (typeof value === 'boolean') return value ? `${BOOL}\x01` : `${BOOL}\0`;
  if (typeof value === 'number') return isInteger(value) ? INT + varint(value) : DOUBLE + double(value);
  if (!Array.isArray(value)) return '';
  return delimited(ARRAY, value.map((item) => delimited(ITEM, anyValue(item))).join(''));
}

const isInteger = (value: number): boolean => Number.isInteger(value) && Math.abs(value) < 2 ** 63;

const MAX_VARINT_BYTES = 10;

/** Writes an attribute of a span with numbers or booleans. All but a number is written once. */
export function plainAttribute(key: string): (value: number | boolean) => Bytes {
  const before = (kind: Bytes, length: number): Bytes =>
    delimited(SPAN_ATTRIBUTE, delimited(KEY, utf8(key)) + delimited(VALUE, kind + '\0'.repeat(length))).slice(
      0,
      -length,
    );
  const beforeInteger = Array.from({ length: MAX_VARINT_BYTES }, (_, index) => before(INT, index + 1));
  const beforeDouble = before(DOUBLE, 8);
  const [no, yes] = [attribute(key, false), attribute(key, true)];
  return (value) => {
    if (typeof value === 'boolean') return value ? yes : no;
    if (!isInteger(value)) return beforeDouble + double(value);
    const bytes = varint(value);
    return (beforeInteger[bytes.length - 1] ?? '') + bytes;
  };
}

/** Writes an attribute of a span with a text that recurs from request to request. */
export const textAttribute = (key: string): RecurringTexts => new RecurringTexts((text) => attribute(key, text));
