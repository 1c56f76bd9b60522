import { SECRET } from '../../../core/dry-run/calls.ts';
import type { KeptClientRequest } from '../../../core/process/record-case-port.ts';
import { isObject, parseJson } from '../../../formats/json/object.ts';
import { hide } from '../explanation/hide-texts.ts';
import type { ExplainQuestion } from './question.ts';

/** A kept request as plain values. @param texts false: marks stand in place of its texts */
export function keptRequest(question: ExplainQuestion | undefined, texts: boolean): KeptClientRequest | undefined {
  if (!question) return undefined;
  const { method, path, headers, body, secrets = [], draws = [] } = question;
  const masked = secrets.reduce((text, secret) => text.replaceAll(secret.reveal(), SECRET), body.toString());
  return { method, path, headers, body: texts ? masked : withoutTexts(masked), draws: [...draws] };
}

function withoutTexts(body: string): string {
  const json = parseJson(body);
  return isObject(json) ? JSON.stringify(hide(json)) : '';
}
