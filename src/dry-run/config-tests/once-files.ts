import type { FileRead, FolderRead, SettingsFiles } from '../../settings/source/files.ts';

/** Reads every file once, so that all cases of a run use the same settings even if files are saved meanwhile. */
export class OnceFiles implements SettingsFiles {
  readonly #files: SettingsFiles;
  readonly #read = new Map<string, Promise<FileRead>>();
  readonly #listed = new Map<string, Promise<FolderRead>>();

  constructor(files: SettingsFiles) {
    this.#files = files;
  }

  read(path: string): Promise<FileRead> {
    return kept(this.#read, path, () => this.#files.read(path));
  }

  list(folder: string): Promise<FolderRead> {
    return kept(this.#listed, folder, () => this.#files.list(folder));
  }
}

function kept<T>(map: Map<string, Promise<T>>, key: string, make: () => Promise<T>): Promise<T> {
  let found = map.get(key);
  if (!found) map.set(key, (found = make()));
  return found;
}
