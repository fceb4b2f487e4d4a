import fs, { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FileSource } from './file-source.js';

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-rules-'));
  file = join(folder, 'limits.yaml');
});
afterEach(async () => {
  jest.restoreAllMocks();
  await rm(folder, { recursive: true });
});

test('a second write of the same size is read also if the file system gives it the same times', async () => {
  const { stat } = fs;
  const coarse = async (path: string) =>
    Object.assign(await stat(path, { bigint: true }), { mtimeNs: 0n, ctimeNs: 0n });
  jest.spyOn(fs, 'stat').mockImplementation(coarse as never);
  await writeFile(file, 'one');
  const source = new FileSource(file);
  const first = await source.read(undefined);
  await writeFile(file, 'two');
  expect(await source.read(first!.id)).toMatchObject({ text: 'two' });
});

test('a file that was written long ago is not read again', async () => {
  await writeFile(file, 'one');
  await utimes(file, 1, 1);
  const source = new FileSource(file);
  const first = await source.read(undefined);
  const read = jest.spyOn(fs, 'readFile');
  expect(await source.read(first!.id)).toBeUndefined();
  expect(read).not.toHaveBeenCalled();
});
