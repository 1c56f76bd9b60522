import { join } from 'node:path';
import { digestOfVersion } from '../compile.ts';
import { diskFiles } from '../../../core/settings/source/files.ts';
import { BY_HAND } from '../../../core/commands/keys/edit-keys.ts';
import { CannotReplace, replaceFile } from '../../../core/commands/keys/keys-file.ts';
import { withEntry, type MapEntry } from '../write-prompt.ts';
import { CommandEnd, findReference, withPrompts, type PromptsOptions } from './read.ts';

interface ReferenceOptions extends PromptsOptions {
  /** `summary@3` */
  readonly reference: string;
}

export function releasePromptCommand(options: ReferenceOptions): Promise<0 | 1 | 2> {
  const { reference, out } = options;
  return withPrompts(options, async (library) => {
    const { prompt, version } = findReference(library, reference);
    const name = `${prompt.id}@${version.number}`;
    const before = version.file.digest;
    if (before !== undefined) return out(`${name} has been released before (${before}).\n`);
    const digest = digestOfVersion(version);
    await edit(prompt.id, ['versions', String(version.number)], ['digest', digest], options);
    out(`Released ${name} as ${digest}.\n`);
  });
}

export function promotePromptCommand(options: ReferenceOptions & { readonly label: string }): Promise<0 | 1 | 2> {
  const { reference, label, out } = options;
  return withPrompts(options, async (library) => {
    const { prompt, version } = findReference(library, reference);
    const name = `${prompt.id}@${version.number}`;
    if (!/^[A-Za-z][A-Za-z0-9._-]{0,63}$/.test(label) || label === 'latest')
      throw new CommandEnd(
        `${JSON.stringify(label)} cannot be a label: a letter, then letters, digits, \`.\`, \`_\` and \`-\`; not latest\n`,
      );
    if (version.file.digest === undefined)
      throw new CommandEnd(`${name} is a draft, which may still change; first: gatehouse prompts release ${name}\n`);
    const before = prompt.labels.get(label);
    await edit(prompt.id, ['labels'], [label, version.number], options);
    out(`${prompt.id}@${label} is ${name} now${before === undefined ? '' : `, before ${prompt.id}@${before}`}.\n`);
  });
}

/** Sets one key of a map in a prompt's file. Throws CommandEnd: nothing was changed. */
async function edit(id: string, path: readonly string[], entry: MapEntry, { dir }: PromptsOptions): Promise<void> {
  const file = join(dir, 'prompts', `${id}.yaml`);
  const content = await diskFiles.read(file);
  const text = 'text' in content ? content.text : '';
  const edited = withEntry(text, path, entry);
  if (edited === undefined) throw new CommandEnd(`${file} was not changed: ${BY_HAND}\n`);
  await replaceFile(file, edited, text).catch((error: unknown) => {
    throw error instanceof CannotReplace ? new CommandEnd(`${file} was not changed: ${error.message}\n`) : error;
  });
}
