const list = (text: string): ReadonlyArray<string> =>
  text
    .split(/[,\n]/)
    .map((phrase) => phrase.trim())
    .filter((phrase) => phrase !== "")

/** Words that repair and tailoring shops write on tickets, by language. Many look like an insult in another language, or in their own. */
export const tradeWords = {
  en: list(`
    Hem trousers, Take in waist, Let out seams, Replace zip, Reline jacket, Shorten sleeves, Invisible mending,
    Cocktail dress, Pussy bow blouse, pussy-bow collar, pussy willow print, nude tights, lacy panty, boob tube, sexy black dress, size XXL,
    Stop-cock, stopcock leaking, ball cock valve, drain cock, cock bead on drawer front, bastard file, bastard cut file, bastard thread,
    motor ass'y, ASS'Y lower housing, Cul-de-sac delivery, butt hinge, butt joint, spoke nipples, grease nipple, vibrator motor of the phone,
    strap on bag, fingering weight yarn, hard core drill, audio jack off centre, white power cable, rusty trombone, Ford Escort seat,
    the hoover no longer sucks, dog bite on the sleeve, tied up with string, tongue in a shoe, pros and cons, tranny fluid leak,
    transmission, hooker (sewing machine hook), horny buttons, horn buttons, gay pride flag, blue tits on the cushion, great tits print,
    tit bird brooch, busty fit dress, bondage trousers, topless mannequin, shag carpet, screw loose, nuts and bolts, knob missing,
    hooked rug, poof cushion, pouf, spastic hinge, spunky red, FAG bearing 6204, gook on the zipper, spic and span, rape oil stain, Maine Coon hair,
    Moby Dick costume, spotted dick tin, mother of the bride, sex: female, unisex, damn good coat, bloody mary stain, crap table, cum diner,
    stroke adjustment, blow dryer, blow fuse, blown speaker, breast pocket, breast dart, crotch seam, gusset, fly front, jock strap,
    thong sandal, flip-flop thong, prick stitch, felling seam, bias binding, whipping stitch, dart, ruffle, Scunthorpe, shiitake, assess,
    classic, Dickens, Cockburn, Essex, Penistone, analogue dial, analyser, circumference, accumulate battery, cumberbund, cummerbund,
    document case, Hitchcock, peacock brooch, cockpit lamp, weathercock, titanium frame, title plate, constitution, massive brass,
    bass drum, harass, grass stain, glass, compass, passport cover, embarrassed seam, buttonhole, butter stain, suckling pig shirt
  `),
  fr: list(`
    Ourlet de pantalon, Retouche, Reprise, Changer la fermeture, Doublure, Réparation d'écran, Salopette, Culotte, cul-de-sac,
    cul de bouteille, cul de poule, cul de lampe, faux-cul de crinoline, pédale de vélo, pédale de machine, vis folle, poulie folle,
    bitte d'amarrage, bander le ressort, bande velcro, chaise à branler, gerbe de fleurs, tapette à mouches, gueule de loup, ramoner la cheminée,
    coussin bourré de plumes, l'écran déconne, le zip va péter, tache de pipi de chat, tache de caca, pantalon caca d'oie, retard de livraison,
    chargeur PD, suceur plat, suce de bébé, griffes de la chatte, lime bâtarde, mur bâtard, pain bâtard, robe sexy noire, robe nude,
    soutien-gorge, string, slip, bouton de braguette, baiser de l'hôtel (badge), concours, constat, accul, pied-de-poule, queue-de-pie,
    queue de chat, gland de rideau, bourse en cuir, sac bourse, manche raglan, trou de mite, trou du coude, trou de boutonnière, fente dos,
    raie du dos, pose de rivets, pine d'huître, bout de chaussure, talon, semelle, patin, cordonnerie, coudre, couture, surjet, faufil,
    passepoil, pince, pli creux, ceinture, biais, jupe, jupon, corset, baleine, poignet, col, revers, nœud papillon, costume, veste,
    manteau, cuir, fourrure, teinture, tache, décoller, foulard, piquer, surpiqûre, aiguille, bobine, canette, machine, moteur, courroie,
    fusible, carte mère, batterie, écran cassé, vitre, joint, robinet qui goutte, chasse d'eau, tuyau, pompe, chiffon, fdp inclus,
    frais de port, tringle à rideaux, tringler le rideau, trique de bois, tanche brodée, poisson, rape à bois, RAPE A FROMAGE, râpe, roulement FAG, meuf tee-shirt, NTM tee-shirt
  `),
  es: list(`
    Vestido negro, Vestido negro con lunares, Pantalón con cremallera, camisa con botones, chaqueta con forro, con o sin cinturón,
    Falda negra, zapatos negros, dobladillo, bajo del pantalón, arreglo de ropa, cambiar cremallera, coser botón, ojal, entallar vestido,
    estrechar cintura, ensanchar, remiendo, zurcir, hilo, aguja, bobina, máquina de coser, tijeras, alfiler, patrón, manga, puño, cuello,
    solapa, bolsillo, forro, abrigo, cazadora, cuero, piel de zorra, cuello de zorro, bufanda, corbata, pajarita, traje, chaleco,
    martillo, martillo roto, lima bastarda, corte bastardo, rosca bastarda, destornillador, tornillo, tuerca, taladro, broca, llave inglesa,
    pinche de cocina (uniforme), delantal, polla de agua (bordado), pollera, concha de nácar, botón de concha, verga de la vela, mástil,
    culo de vaso, culo de botella, culata, pezón de engrase, pezonera, pico, pito, silbato, huevos de zurcir, huevo de zurcir, bola,
    pelota, tetera, tetina, chupete, chupón, cacao, caca de perro en la suela, pis de gato, orina en el colchón, esperma de ballena (vela),
    trio de cojines, trío, heroína de cómic, infierno verde, drogas tee-shirt, maldito duende (funda), asno (cuento bordado), burro de planchar,
    idiota tee-shirt, pantalla rota, batería, carcasa, placa base, fusible, cable, enchufe, bomba de agua, grifo, junta, correa,
    puntada, pespunte, vivo, volante, encaje, sexo: mujer, unisex, semen de lino, mamá, mameluco, mona de trapo, muñeca, para Kike, vestit negre (català), rodamiento FAG
  `),
  it: list(`
    Orlo pantaloni, accorciare maniche, stringere vita, allargare, cambiare cerniera, pantaloni con zip, giacca con bottoni, camicia con colletto,
    vestito nero con pizzo, abito da sera, cappotto, fodera, rammendo, asola, bottone, gonna, pieghe, pinces, orlatura, sega, sega a nastro, lama della sega,
    pompa, pompa dell'acqua, pompa bicicletta, palle da bowling, palle di Natale, balle di cotone, montare la cerniera, monta cerniera,
    battere l'orlo, battere il tappeto, battitappeto, tirare la cucitura, tirare, sbattere la porta, scopa, scopare il pavimento, scopino, pesce ricamato,
    culo di bottiglia, culo della pentola, culla, finocchio (ricamo), pisello ricamato, fava, fico d'India (ricamo), cavallo di Troia (costume), FAG cuscinetto,
    cesso otturato, vacca (pelle), pelle di vacca, pelle di porco, porco (borsa), cinghiale, cagna (guinzaglio), topa, topo,
    mona, patacca, patacche, quaglia, regina (costume), spagnola (gonna), brinca, biga, cozza (bottone), cadavere, cornuto (maschera),
    lima bastarda, taglio bastardo, passo bastardo, martello, cacciavite, vite, dado, rondella, trapano, punta, chiave inglese,
    chiappa (imbottitura), tette (reggiseno), zinne, bocchino della tromba, bocchino tromba, ingoio, sveltina, trombare, tromba, trombone,
    pippa (pipa), pipa, pipì del gatto, cacca sulla suola, piscio di cane, pisciare, schermo rotto, batteria, scheda madre, fusibile,
    cavo, spina, rubinetto, guarnizione, cinghia, cucitura, imbastitura, filo, ago, ditale, spilli, forbici, metro, cartamodello,
    cavallo dei pantaloni, risvolto, toppa, pelliccia, tintura, smacchiatura, tacco, suola, lacci, borsa, zaino, negro (colore pelle ant.)
  `),
  de: list(`
    Hose kürzen, Kleid enger machen, Reißverschluss tauschen, Futter ersetzen, Knopf annähen, Ärmel kürzen, Saum, Abnäher, Naht,
    dicke Jacke, dicker Stoff, dickes Garn, dick gefüttert, Stoff zu dick, extra dick, Bitte kürzen, bitte waschen, Bitte mit Gürtel,
    Nippel, Schmiernippel, Nippelspanner, Speichennippel, Rosette, Rosette am Kleid, Türrosette, Schabracke, Vorhang mit Schabracke,
    Schuhwichse, Wichse, wichsen und polieren, Lederwichse, Schwanz am Frack, Fuchsschwanz, Fuchsschwanz (Säge), Pfannenschwanz,
    Muschi (Stofftier), Möpse (Kissenbezug), Mops, nackt, nackte Puppe, Bumsen im Motor, Motor bumst, Poppnieten, poppen, Blasebalg, Blasen am Lack,
    Lümmel, Bimbo (Stofftier), Mufti, Bonze, Kimme, Kimme und Korn, Fratze, Maske Fratze, Ische, Popel, pinkeln, Kacke am Schuh,
    Schlitz, Schlitz am Rock, Ritze, Loch, Loch im Ärmel, Knopfloch, Arschleder, Penner, Sack, Sakko, Beutel, Eier (Stopfei), Stopfei,
    Ass, Pik-Ass, Kreuz-Ass, Fagott, Fagott reparieren, Kontrabass, Bass, Fass, Pass, Kompass, Sechs Knöpfe, sechs, sex-Größe 36, Slip,
    String, Hemd, Bluse, Rock, Anzug, Mantel, Leder, Pelz, Absatz, Sohle, Schuh, Stiefel, Tasche, Riemen, Gürtel, Schnalle, Niete,
    Feile, Bastardfeile, Hieb 1 Bastard-Feile (Bastardfeile), Schraube, Mutter, Vater, Hammer, Bohrer, Schlüssel, Hahn, Wasserhahn, Absperrhahn, Pumpe, Dichtung, Kabel,
    Akku, Bildschirm, Platine, Sicherung, Stecker, Retard, Geil-o-Mat, geile Farbe, Mist, mistfarben, Hell, hell, helle Farbe, Fahrt,
    Gute Fahrt, Fickerei nicht bekannt, Pickel, Futter, Futteral, Kotflügel, Kotschutz, Scheibe, Scheide (Messer), Messerscheide, Schere
  `),
  ar: list(`
    ta9sir serwal, ta9sir sirwel, tasghir jebba, jebba, kaftan, karakou, fouta, blousa, kmis, qamis, jellaba, djellaba, abaya, 3abaya,
    hijab, 7ijab, khimar, tarha, sefsari, burnous, barnous, chachia, tarbouch, balgha, babouch, sabbat, sabat, 7dha, sandal,
    khayata, 5yata, khiyata, khayyat, darzi, taraza, tatriz, tariza, 3a9da, 3aqda, zirr, zrar, sousta, sahab, sa7ab, jib, jyoub, makina,
    makina mta3 khyata, ibra, 5it, khit, mqas, mi9ass, 9mach, qmash, harir, soof, souf, jeld, jild, farwa, batana, kam, akmam, yaqa,
    tasli7, tasliha, islah, 9ita3 ghyar, qit3at ghiyar, chacha, shasha maksoura, battariya, chargeur, moteur, matour, pompa, robini, robinet,
    tuyau, 7nafiya, hanafiya, kahraba, kahrba, kahrabai, khabta, kharta, kharita, kharij, kharaz, khara9, kherba, zamel3, zemla, zammour,
    zebda, zebib, zabib, zeb3a, Zeb, zobra, zebra, zitoun, tizi, Tizi Ouzou, atay, ataï, tahan, Tahhan, nik name, Nik, nikel, nickel, nayloun, naylon,
    kalb stofi, kelb, lo3ba, la3ba, loubya, kos, kis, kousa, koussa, kassa, mos, mousse, moss, asba, 3asba (headdress), 3asba3, osba3, isba3, sormaya, zok3a, 5ara2it,
    hmar, 7mar, a7mar, ahmar, asfar, akhdar, azraq, abyadh, aswad, kohli, banafsaji, wardi, dhahabi, fidhi, nhas, hadid, khchab,
    فستان, سروال, جبة, تقصير, تصليح, خياطة, قضيب معدني, فرج, بز الكم, سحاب, زر, إبرة, خيط, قماش, حرير, جلد
  `)
} as const
