import type { PromptFile, PromptValueSchema } from '../../../schemas/types.generated.ts';
import { chatCompletions } from '../../core/operations/openai.ts';
import { withSuggestion } from '../../core/settings/checks/names.ts';
import type { Report } from '../../core/kernel/report.ts';
import { NameCheck } from './check-names.ts';
import { compilePrompt, digestOfVersion, templatesOf, type CompiledVersion, type Partials } from './compile.ts';
import { LATEST } from './library.ts';
import { NAME } from './tags.ts';
import { partialsIn, type Template, type TemplateMistake } from './template.ts';
import { patternMistake, valueMistake } from './variables.ts';

export type ReportPartial = (name: string, mistake: TemplateMistake) => void;

interface PromptReports {
  readonly report: Report;
  readonly partial: ReportPartial;
}

/** Checks the partials by themselves: their syntax, and the partials that they name. */
export function checkPartials(partials: Partials, report: ReportPartial): void {
  for (const [name, template] of partials) for (const mistake of mistakesIn(template, partials)) report(name, mistake);
}

/** Those of its syntax, and partials that do not exist. */
function* mistakesIn(template: Template, partials: Partials): Iterable<TemplateMistake> {
  yield* template.mistakes;
  for (const { name, at } of partialsIn(template.tokens)) {
    if (partials.has(name)) continue;
    yield {
      at,
      message: `there is no partial prompts/partials/${name}.txt`,
      ...withSuggestion(name, [...partials.keys()]),
    };
  }
}

/** Checks one prompt: what its schema cannot express. */
export function checkPrompt(
  id: string,
  file: PromptFile,
  partials: Partials,
  { report, partial }: PromptReports,
): void {
  const prompt = compilePrompt(id, file, partials);
  for (const number of Object.keys(file.versions))
    if (!/^[1-9][0-9]{0,5}$/.test(number))
      report({ path: ['versions', number], on: 'key', message: 'a version is a whole number from 1 to 999999' });
  for (const [label, number] of prompt.labels) checkLabel(file, label, number, report);
  for (const version of prompt.versions.values()) {
    const path = ['versions', String(version.number)];
    checkVersion(id, version, partials, {
      report: (problem) => report({ ...problem, path: [...path, ...problem.path] }),
      partial,
    });
  }
}

function checkLabel({ versions }: PromptFile, label: string, number: number, report: Report): void {
  const path = ['labels', label];
  const version = versions[String(number)];
  if (label === LATEST)
    report({ path, on: 'key', message: '`latest` always stands for the highest version; remove it' });
  else if (!/^[A-Za-z][A-Za-z0-9._-]{0,63}$/.test(label))
    report({ path, on: 'key', message: 'a label is a letter, then letters, digits, `.`, `_` and `-`, at most 64' });
  if (!version) report({ path, message: `there is no version ${number}` });
  else if (version.digest === undefined) {
    const message = `version ${number} is a draft, which may still change: \`gatehouse prompts release\` fixes it`;
    report({ path, severity: 'warning', message });
  }
}

function checkVersion(id: string, version: CompiledVersion, partials: Partials, reports: PromptReports): void {
  const { file } = version;
  const { report } = reports;
  if ((file.messages === undefined) === (file.text === undefined)) {
    report({ path: [], on: 'key', message: 'a version has either `messages` or `text`' });
    return;
  }
  for (const key of ['model', 'messages', 'tools', 'response_format', 'variables', 'stream'])
    if (file.parameters && Object.hasOwn(file.parameters, key)) {
      const message =
        key === 'stream' ? 'remove it: `stream` of the request decides' : `\`${key}\` belongs beside \`parameters\``;
      report({ path: ['parameters', key], on: 'key', message });
    }
  const before = countingErrors(report);
  checkTemplates(id, version, partials, { ...reports, report: before.report });
  checkVariables(version, before.report);
  if (before.errors() === 0) checkRequest(version, report);
  checkDigest(version, report);
}

function countingErrors(report: Report): { readonly report: Report; errors(): number } {
  let count = 0;
  return {
    report(problem) {
      if (problem.severity !== 'warning') count += 1;
      report(problem);
    },
    errors: () => count,
  };
}

const contentPath = (version: CompiledVersion, index: number, path: readonly number[]): (string | number)[] =>
  version.file.text === undefined ? ['messages', index, 'content', ...path] : ['text'];

function checkTemplates(
  id: string,
  version: CompiledVersion,
  partials: Partials,
  { report, partial }: PromptReports,
): void {
  const used = new Set<string>();
  for (const [index, message] of version.messages.entries()) {
    for (const { template, path } of templatesOf(message)) {
      const place = contentPath(version, index, path);
      const own = ({ at, ...problem }: TemplateMistake): void =>
        report({ path: place, at: tagAt(template, at), ...problem });
      for (const mistake of mistakesIn(template, partials)) own(mistake);
      const names = new NameCheck(version, ({ partial: name, ...mistake }) => {
        if (name === undefined) own(mistake);
        else partial(name, { ...mistake, message: `${mistake.message} of ${id}@${version.number}` });
      });
      names.check(template);
      for (const name of names.used) used.add(name);
    }
    if (Array.isArray(message.content))
      for (const part of message.content) if (part.kind === 'media') used.add(part.variable);
  }
  for (const name of version.variables.keys())
    if (!used.has(name))
      report({ path: ['variables', name], on: 'key', severity: 'warning', message: `no template uses \`${name}\`` });
}

/** The tag at the offset, and how many equal ones come before it: enough to find it in the file. */
function tagAt({ text }: Template, at: number): { readonly text: string; readonly nth: number } {
  const end = text.indexOf('}}', at);
  const tag = text.slice(at, end === -1 || text.slice(at, end).includes('\n') ? at + 2 : end);
  return { text: tag, nth: text.slice(0, at).split(tag).length - 1 };
}

function checkVariables({ variables }: CompiledVersion, report: Report): void {
  for (const [name, variable] of variables) {
    const path = ['variables', name];
    if (!NAME.test(name))
      report({
        path,
        on: 'key',
        message: 'a variable is a letter or `_`, then letters, digits, `_` and `-`, at most 64',
      });
    if (variable.media && variable.schema)
      report({
        path: [...path, 'schema'],
        on: 'key',
        message: '`schema` has no effect beside `media`',
        severity: 'warning',
      });
    if (variable.schema && !checkSchema(variable.schema, [...path, 'schema'], report)) continue;
    for (const key of ['default', 'example'] as const) {
      if (variable[key] === undefined) continue;
      const mistake = valueMistake(variable, variable[key]);
      if (mistake !== undefined) report({ path: [...path, key], message: `\`${key}\` ${mistake}` });
    }
  }
}

/** Longest text that a pattern is matched with: a step of RE2 costs about 15 ns for each part of the pattern. */
const MAX_MATCHED = 10_000;

export function checkSchema(schema: PromptValueSchema, path: readonly string[], report: Report): boolean {
  let isValid = true;
  if (schema.pattern !== undefined) {
    const mistake = patternMistake(schema.pattern);
    const isLong = schema.maxLength === undefined || schema.maxLength > MAX_MATCHED;
    const message =
      mistake ?? (isLong ? `\`pattern\` needs a \`maxLength\` of at most ${MAX_MATCHED} beside it` : undefined);
    if (message !== undefined) {
      report({ path: [...path, 'pattern'], message });
      isValid = false;
    }
  }
  const inner: [PromptValueSchema, string[]][] = Object.entries(schema.properties ?? {}).map(([key, one]) => [
    one,
    [...path, 'properties', key],
  ]);
  if (schema.items) inner.push([schema.items, [...path, 'items']]);
  return inner.reduce((valid, [one, at]) => checkSchema(one, at, report) && valid, isValid);
}

/** Checks the request that the version makes: a wrong parameter should not wait for the first request. */
function checkRequest(version: CompiledVersion, report: Report): void {
  const { model = 'any', parameters = {}, tools, response_format: format } = version.file;
  const messages = version.messages.map(({ fields, content }) => ({
    ...fields,
    ...(content !== undefined && {
      content:
        'tokens' in content
          ? content.text
          : content.map((part) => (part.kind === 'literal' ? part.part : { type: 'text', text: '' })),
    }),
  }));
  const own = { ...(tools && { tools }), ...(format && { response_format: format }) };
  const fault = chatCompletions.validate({ ...parameters, ...own, model, messages });
  if (!fault) return;
  const keys = (fault.param ?? '').split(/[.[\]]+/).filter((key) => key !== '');
  const path = keys.map((key) => (/^\d+$/.test(key) ? Number(key) : key));
  const isOwn = ['messages', 'tools', 'response_format', 'model'].includes(keys[0] ?? '');
  report({ path: isOwn ? path : ['parameters', ...path], message: fault.message.replace(/\.$/, '') });
}

function checkDigest(version: CompiledVersion, report: Report): void {
  const { digest } = version.file;
  if (digest === undefined || digest === digestOfVersion(version)) return;
  const message = `version ${version.number} or a partial of it has changed since its release: restore it, or write a new version`;
  report({ path: ['digest'], message });
}
