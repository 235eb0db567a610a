// A service as NestJS projects write it, with the document of @nestjs/swagger. It has no code for the gateway. The decorators are called as
// functions, because Node does not support their syntax.

import 'reflect-metadata';
import * as common from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FileInterceptor } from '@nestjs/platform-express';
import { ApiBody, ApiConsumes, ApiProperty, ApiQuery, DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { IsInt, IsString, Min, MinLength } from 'class-validator';
import { interval, map, take } from 'rxjs';

const { Body, Controller, Delete, Get, HttpCode, NotFoundException, Param, ParseIntPipe, Post, Query, Redirect } =
  common;

class NewCat {}
for (const decorator of [ApiProperty({ type: String, minLength: 1 }), IsString(), MinLength(1)])
  decorator(NewCat.prototype, 'name');
for (const decorator of [ApiProperty({ type: Number, minimum: 0 }), IsInt(), Min(0)])
  decorator(NewCat.prototype, 'age');

class Cats {
  list(limit) {
    return { limit: limit ?? null, cats: [{ id: 1, name: 'Ada' }] };
  }
  create(cat) {
    return { id: 7, ...cat };
  }
  remove() {}
  upload(file) {
    return { name: file?.originalname, bytes: file?.size };
  }
  photo() {
    return new common.StreamableFile(Buffer.from('not really a photo'), {
      type: 'image/jpeg',
      disposition: 'attachment; filename="cat.jpg"',
    });
  }
  purrs() {
    return interval(20).pipe(
      take(3),
      map((number) => ({ id: String(number), data: { number } })),
    );
  }
  first() {}
  fault() {
    throw new Error('a fault of the service');
  }
  /** After the fixed paths: Nest adds routes in the order of the methods. */
  read(id) {
    if (id > 100) throw new NotFoundException('No such cat');
    return { id, name: 'Ada' };
  }
}

/** Applies the decorators of a method and of its arguments. */
function decorate(method, types, decorators, ...ofArguments) {
  Reflect.defineMetadata('design:paramtypes', types, Cats.prototype, method);
  for (const [index, decorator] of ofArguments.entries()) decorator(Cats.prototype, method, index);
  const descriptor = Object.getOwnPropertyDescriptor(Cats.prototype, method);
  for (const decorator of decorators) decorator(Cats.prototype, method, descriptor);
}

decorate('list', [Number], [Get(), ApiQuery({ name: 'limit', required: false, type: Number })], Query('limit'));
decorate('create', [NewCat], [Post()], Body());
decorate('first', [], [Get('first'), Redirect('/cats/1', 302)]);
decorate('photo', [], [Get('photo')]);
decorate('purrs', [], [common.Sse('purrs')]);
decorate('fault', [], [Get('fault')]);
decorate('read', [Number], [Get(':id')], Param('id', ParseIntPipe));
decorate('remove', [Number], [Delete(':id'), HttpCode(204)], Param('id', ParseIntPipe));
const photo = { schema: { type: 'object', properties: { photo: { type: 'string', format: 'binary' } } } };
const upload = [
  Post('photo'),
  ApiConsumes('multipart/form-data'),
  ApiBody(photo),
  common.UseInterceptors(FileInterceptor('photo')),
];
decorate('upload', [Object], upload, common.UploadedFile());
Controller('cats')(Cats);

class Application {}
common.Module({ controllers: [Cats] })(Application);

const app = await NestFactory.create(Application, { logger: false });
app.useGlobalPipes(new common.ValidationPipe({ transform: true }));
const document = SwaggerModule.createDocument(app, new DocumentBuilder().setTitle('Cats').setVersion('1.0').build());
app.getHttpAdapter().get('/openapi.json', (_request, response) => response.json(document));
await app.listen(0, '127.0.0.1');
console.log(`http://127.0.0.1:${app.getHttpServer().address().port}`);
