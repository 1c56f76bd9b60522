import { type Cases, image, PDF, PNG, png, text, TEXT, user } from './case.ts';

const about = (...parts: readonly Record<string, unknown>[]) => ({ messages: [user(text('What is this?'), ...parts)] });
const file = (file: Record<string, unknown>) => ({ type: 'file', file });
const sound = (format: string) => ({ type: 'input_audio', input_audio: { data: 'UklGRiQAAABXQVZF', format } });

/** Media (docs/protocols/requests.md#media). */
export const media: Cases = {
  png: { title: 'a PNG as a data URI', request: about(image(png)) },
  jpeg: { title: 'a JPEG as a data URI', request: about(image('data:image/jpeg;base64,/9j/4AAQ')) },
  'gif-and-webp': {
    title: 'a GIF and a WebP between texts, in order',
    request: {
      messages: [
        user(
          image('data:image/gif;base64,R0lGODlh'),
          text('What is that?'),
          image('data:image/webp;base64,UklGRg=='),
          text('And this?'),
        ),
      ],
    },
  },
  'image-alone': { title: 'a picture without a word', request: { messages: [user(image(png))] } },
  'image-of-the-assistant': {
    title: 'a picture the assistant made, sent back as it came',
    request: {
      messages: [
        { role: 'user', content: 'Draw.' },
        { role: 'assistant', content: 'Here.', content_parts: [text('Here.'), image(png)] },
        { role: 'user', content: 'Bluer.' },
      ],
    },
    gemini: ['gemini-2.5-flash-image'],
    strict: false,
  },
  heic: { title: 'a HEIC picture', request: about(image('data:image/heic;base64,AAAA')) },
  'https-image': { title: 'a picture by its URL', request: about(image('https://files.example/a.png')) },
  'https-image-query': {
    title: 'a picture by a signed URL: the extension is of the path',
    request: about(image('https://files.example/a.JPG?sig=x.y#top')),
  },
  'https-image-untyped': {
    title: 'a picture by a URL that says no type',
    request: about(image('https://files.example/a')),
  },
  'https-image-typed': {
    title: 'a picture by a URL that says no type, with a type beside it',
    request: about(image('https://files.example/a', { mime_type: 'image/webp' })),
  },
  'gs-image': { title: 'a picture in a bucket', request: about(image('gs://bucket/a.png')) },
  'gs-video': { title: 'a film in a bucket', request: about(image('gs://bucket/a.mp4')) },
  'https-video': { title: 'a film by its URL', request: about(image('https://files.example/a.webm')) },
  youtube: {
    title: 'a film on YouTube',
    request: about(image('https://www.youtube.com/watch?v=abc')),
  },
  'no-address': { title: 'base64 where a URL belongs', request: about(image(PNG)) },
  'pdf-as-image': {
    title: 'a PDF in an image part',
    request: about(image(`data:application/pdf;base64,${PDF}`)),
  },
  'text-as-image': {
    title: 'plain text in an image part',
    request: about(image(`data:text/plain;base64,${TEXT}`)),
  },
  'detail-high': {
    title: 'a picture to be looked at closely',
    request: about(image(png, { detail: 'high' })),
    gemini: ['gemini-2.5-flash', 'gemini-3-pro-preview'],
  },
  'detail-low': {
    title: 'a picture to be glanced at',
    request: about(image(png, { detail: 'low' })),
    gemini: ['gemini-3-pro-preview'],
  },
  'detail-auto': { title: 'a picture to be looked at as ever', request: about(image(png, { detail: 'auto' })) },
  wav: { title: 'sound as WAV', request: about(sound('wav')) },
  mp3: { title: 'sound as MP3', request: about(sound('mp3')) },
  pcm16: { title: 'sound as PCM', request: about(sound('pcm16')) },
  opus: { title: 'sound as Opus', request: about(sound('opus')) },
  pdf: {
    title: 'a PDF with its name',
    request: about(file({ file_data: `data:application/pdf;base64,${PDF}`, filename: 'a.pdf' })),
  },
  'pdf-bare': { title: 'a file of bare base64 is a PDF', request: about(file({ file_data: PDF })) },
  'pdf-typed': {
    title: 'a file of bare base64 with its type',
    request: about(file({ file_data: PDF, mime_type: 'application/pdf' })),
  },
  'text-file': {
    title: 'a text file',
    request: about(file({ file_data: `data:text/plain;base64,${TEXT}`, filename: 'a.txt' })),
  },
  'csv-file': {
    title: 'a table as CSV',
    request: about(file({ file_data: `data:text/csv;base64,${TEXT}`, filename: 'a.csv' })),
  },
  'image-file': {
    title: 'a picture in a file part',
    request: about(file({ file_data: png, filename: 'a.png' })),
  },
  'file-id': { title: 'a file by its id', request: about(file({ file_id: 'file_011' })) },
  'file-id-gs': { title: 'a file by an id that is an address', request: about(file({ file_id: 'gs://bucket/a.pdf' })) },
  'file-url': { title: 'a file by its URL', request: about(file({ file_url: 'https://files.example/a.pdf' })) },
  'zip-file': {
    title: 'a file no model reads',
    request: about(file({ file_data: 'data:application/zip;base64,UEsDBA==' })),
  },
};
