import { client, http, of, unit, type Chapter } from './statement.ts';

/** What the gateway keeps for callers. */
export const LIBRARY: readonly Chapter[] = [
  {
    title: 'Prompts',
    statements: [
      of(
        'A prompt of the library is completed by its name and values, plain and as a stream, by the SDK’s `prompts.completions.create`.',
        http('prompts', 'completes prompts, plain and as a stream'),
        http('prompts', 'sends the rendered prompt, and names its version in a header, the access line and the record'),
      ),
      of(
        'A prompt is rendered without a call of a model, by the SDK’s `prompts.render`.',
        http('prompts', 'renders prompts'),
        client('library', 'are completed and rendered by portkey-ai'),
      ),
      of(
        'A name chooses the latest version, the version of a label, or the one that the config pins.',
        http('prompts', 'uses the latest version for a name alone, and the pinned one under a config that pins it'),
      ),
      of(
        'Fields of a request replace those of its prompt; `override_params` replace both.',
        http('prompts', 'takes the fields of overrides, then of the request, the prompt and the defaults'),
      ),
      of(
        'Variables are texts or media; a value never becomes a template.',
        http('prompts', 'sends media variables as parts, and values with tags as text'),
      ),
      of(
        'A released version never changes; other changes of the files are served within moments.',
        http('prompts', 'is served within moments, for a partial too; an edit of a released version is not'),
        ['test/cli/workers-library.test.ts', 'prompts are the same in both workers, also after a change of their file'],
      ),
      of(
        'A key uses only the prompts that it may.',
        http('prompts', 'is for keys whose `prompts` match, which do not learn of other prompts'),
      ),
      of(
        'Each version of a prompt is counted by the outcome of its requests.',
        http(
          'prompts',
          'counts each version by the outcome of its requests, renderings and values that do not fit among them',
        ),
      ),
    ],
  },
  {
    title: 'Files',
    statements: [
      of(
        'Files are uploaded, listed, read and deleted with OpenAI’s SDK.',
        http('files', 'serve the whole life of a file to OpenAI’s client'),
      ),
      of(
        'Files are uploaded, listed, read and deleted with Anthropic’s SDK.',
        http('files', 'serve the whole life of a file to Anthropic’s client and its beta'),
      ),
      of(
        'A request names a file by its id, or by the address of the file service with the id behind it.',
        http('files', 'reaches an OpenAI upstream with the bytes, by id and by address'),
        client('library', 'are uploaded, named by their address and deleted by portkey-ai'),
      ),
      of(
        'Models on the cloud platform read files in Cloud Storage themselves, whatever their size; other models get the bytes.',
        http('files-gcs', 'reach Gemini on Vertex AI by their address, whatever their size, and other targets inline'),
        [
          'test/recipes/files-from-cloud-storage.test.ts',
          'an uploaded file reaches Gemini by its address in the bucket and Claude by its bytes',
        ],
      ),
      of(
        'A file that fits neither way is a 400 that names the reason.',
        http('files', 'is a 400 that names Cloud Storage where the file is too large to inline'),
      ),
      of('Files of another key do not exist.', http('files', 'of another key do not exist')),
      of(
        'Size, number, total and lifetime of files have limits.',
        http('files', 'are limited in size, number and total by their key'),
        http('files', 'expire, and are removed with the remains of crashed uploads when the gateway starts'),
      ),
      of(
        'The type of a file agrees with its name and its first bytes.',
        unit('src/addons/files/file-type', '%# is refused where its bytes say otherwise'),
      ),
      of(
        'Uploads, stored bytes and the files of each request are in the metrics and records.',
        http('files', 'count uploads by their outcome, and the bytes that are in the store'),
        http('files', 'are beside the id, the bytes and the way of each file in the access line of a request'),
      ),
    ],
  },
  {
    title: 'Metadata',
    statements: [
      of(
        'Metadata is a JSON object of strings in a header.',
        unit('plugins/metadata/index', 'reads a JSON object of strings'),
      ),
      of(
        'A config requires metadata and lists its values.',
        http('configs', 'that the config requires must be there, with a value it allows'),
      ),
      of(
        'Metadata of a key is added to each of its requests and wins.',
        unit(
          'plugins/metadata/index',
          "adds the key's own metadata, which wins, and counts the caller's values that differ",
        ),
      ),
      of('Conditions choose targets by metadata.', http('conditional', 'a conditional')),
      of(
        'Metadata is in the access line, the records and the spans.',
        unit('src/core/record/recorder', 'has the metadata of the caller and of its key, which wins'),
        unit('src/addons/otlp/spans/sdk-spans', 'have the metadata of the request at the server span'),
      ),
      of(
        'Metadata becomes cost labels on the cloud platform where the config says so, and reaches no upstream without labels.',
        http(
          'configs',
          'becomes cost labels on Vertex AI, fitted to its rules; labels of the body win and are not rewritten',
        ),
        http('configs', 'does not reach upstreams without labels'),
      ),
    ],
  },
];
