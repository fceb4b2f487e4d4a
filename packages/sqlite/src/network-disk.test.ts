import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isStoreConfigurationError } from '@sluice/core';
import { rejection } from '../../../tests/support/rejection.js';
import { sqliteStore } from './index.js';
import { networkDiskOf } from './network-disk.js';

const folder = fs.realpathSync(tmpdir());
const file = join(folder, 'limits.db');

const platform = process.platform;
beforeEach(() => Object.defineProperty(process, 'platform', { value: 'linux' }));
afterEach(() => {
  Object.defineProperty(process, 'platform', { value: platform });
  jest.restoreAllMocks();
});

const onType = (type: number) => jest.spyOn(fs, 'statfsSync').mockReturnValue({ type } as never);

test.each([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xff534d42 | 0, 'CIFS'], // with a sign
  [0xfe534d42, 'SMB'],
  [0x01021997, '9p'],
  [0xef53, undefined], // ext4
  [0x01021994, undefined], // tmpfs
])('the file system of type %i is known as %p', (type, name) => {
  onType(type);
  expect(networkDiskOf(file)).toBe(name);
});

test.each([
  [`host:/ ${folder} fuse.sshfs rw 0 0`, 'fuse.sshfs'],
  [`one / ext4 rw 0 0\nremote: ${folder} fuse.rclone rw 0 0`, 'fuse.rclone'],
  [`/dev/sda1 ${folder} fuse.ntfs-3g rw 0 0`, undefined],
  [`host:/ ${folder}-else fuse.sshfs rw 0 0`, undefined],
  [`host:/ ${folder} fuse.sshfs rw 0 0\n/dev/sdb ${folder} fuse.ntfs-3g rw 0 0`, undefined],
])('the mounts name the file system behind FUSE: %j', (mounts, name) => {
  onType(0x65735546);
  jest.spyOn(fs, 'readFileSync').mockReturnValue(mounts);
  expect(networkDiskOf(file)).toBe(name);
});

test('a folder that is not there, and another platform, say nothing', () => {
  expect(networkDiskOf(join(folder, 'missing', 'limits.db'))).toBeUndefined();
  onType(0x6969);
  Object.defineProperty(process, 'platform', { value: 'darwin' });
  expect(networkDiskOf(file)).toBeUndefined();
});

test('a file on a network file system is refused before it is made', async () => {
  onType(0x6969);
  const unmade = join(folder, `sluice-unmade-${process.pid}.db`);
  const store = sqliteStore(unmade);
  const error = await rejection(store.connect());
  expect(isStoreConfigurationError(error)).toBe(true);
  expect(error).toMatchObject({ message: expect.stringMatching(/NFS.*a disk of this machine/) });
  expect(fs.existsSync(unmade)).toBe(false);
  await store.close();
});
