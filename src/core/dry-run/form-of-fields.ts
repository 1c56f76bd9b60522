import { isObject, parseJson } from '../../formats/json/object.ts';
import type { Operation } from '../kernel/index.ts';

const BOUNDARY = 'gatehouse-dry-run-form';
export const FORM_TYPE = 'multipart/form-data';
const FORM = /^multipart\/form-data\s*(?:;|$)/i;

interface DryForm {
  readonly operation: Pick<Operation, 'task' | 'body'> | undefined;
  readonly type: string | undefined;
  readonly files?: readonly string[] | undefined;
}

/** A form with the fields of a JSON object and placeholders as files. Other bodies stay, to be refused. */
export function formOfFields(
  body: Buffer,
  { operation, type = '', files = ['file'] }: DryForm,
): { readonly body: Buffer; readonly headers: Readonly<Record<string, string>> } | undefined {
  if (operation?.task === undefined || operation.body !== 'multipart' || !FORM.test(type)) return undefined;
  const fields = parseJson(body.toString());
  if (!isObject(fields)) return undefined;
  const part = (disposition: string, value: string): string =>
    `--${BOUNDARY}\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${value}\r\n`;
  const parts = Object.entries(fields).flatMap(([name, value]) =>
    [value]
      .flat()
      .map((one: unknown) => part(`name="${encoded(name)}"`, typeof one === 'string' ? one : JSON.stringify(one))),
  );
  const sent = files.map((name) => part(`name="${encoded(name)}"; filename="file"`, ''));
  const form = Buffer.from(`${parts.join('')}${sent.join('')}--${BOUNDARY}--\r\n`);
  const headers = { 'content-type': `${FORM_TYPE}; boundary=${BOUNDARY}`, 'content-length': String(form.length) };
  return { body: form, headers };
}

const encoded = (name: string): string => name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
