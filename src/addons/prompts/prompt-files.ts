import type { PromptFile } from '../../../schemas/types.generated.ts';
import { Slot, type ExtraReader, type Extras } from '../../core/settings/source/extra-files.ts';
import { readPartials, type PartialFile } from './settings/partials.ts';

export interface PromptFiles {
  /** By id: the file's name without `.yaml`. Without those that could not be read. */
  readonly prompts: ReadonlyMap<string, PromptFile>;
  /** Ids of all prompts. */
  readonly ids: readonly string[];
  /** Templates that prompts share, by name: the text of the file without its last line end. */
  readonly partials: ReadonlyMap<string, PartialFile>;
}

const slot = new Slot<PromptFiles>({ prompts: new Map(), ids: [], partials: new Map() });

export const promptFilesOf = (settings: { readonly extras?: Extras | undefined }): PromptFiles => slot.in(settings);

export const partialTexts = ({ partials }: PromptFiles): ReadonlyMap<string, string> =>
  new Map([...partials].map(([name, { text }]) => [name, text]));

export const readPromptFiles: ExtraReader = async ({ found, read, files }, extras) => {
  const own = read.filter((file) => file.found.kind === 'prompt');
  const { partials, diagnostics } = await readPartials(found.partials, files);
  slot.put(extras, {
    // The schema of each file has been checked.
    prompts: new Map(own.flatMap((file) => (file.value ? [[file.found.id, file.value as PromptFile]] : []))),
    ids: own.map((file) => file.found.id),
    partials,
  });
  return {
    complete: diagnostics.length === 0,
    diagnostics,
    paths: found.partials.map(({ path }) => path),
    hashed: [...partials].map(([name, { text }]) => ['partial', name, text]),
  };
};
