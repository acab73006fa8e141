// SPDX-License-Identifier: GPL-2.0-only
/*
 * nvidia: stands for the driver of that name in the virtual T410, made for its tests and for
 * nothing else. GPUs are bound to it; nodes with its major number can be opened (the scenarios make
 * them, as the real driver's tools do), and /proc has the minor number of each GPU. Nothing in it
 * does anything.
 */
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>

#define NAME  "nvidia"
#define MAJOR 195

static struct proc_dir_entry *folder, *gpus;
static unsigned int nr_gpus;

static int information(struct seq_file *out, void *unused)
{
	seq_printf(out, "Model: \t\t virtual\nDevice Minor: \t %lu\n", (unsigned long)out->private);
	return 0;
}

static int gpu_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct proc_dir_entry *gpu = proc_mkdir(pci_name(pdev), gpus);

	if (!gpu)
		return -ENOMEM;
	pci_set_drvdata(pdev, gpu);
	proc_create_single_data("information", 0444, gpu, information,
				(void *)(unsigned long)nr_gpus++);
	return 0;
}

static void gpu_remove(struct pci_dev *pdev)
{
	proc_remove(pci_get_drvdata(pdev));
}

/* The device id of acpi/pci.py */
static const struct pci_device_id ids[] = { { PCI_DEVICE(PCI_VENDOR_ID_NVIDIA, 0x2941) }, {} };

static struct pci_driver driver = {
	.name = NAME,
	.id_table = ids,
	.probe = gpu_probe,
	.remove = gpu_remove,
};

static const struct file_operations nodes = { .owner = THIS_MODULE };

static int __init nvidia_init(void)
{
	int err = register_chrdev(MAJOR, NAME, &nodes);

	if (err)
		return err;
	folder = proc_mkdir("driver/" NAME, NULL);
	gpus = folder ? proc_mkdir("gpus", folder) : NULL;
	err = gpus ? pci_register_driver(&driver) : -ENOMEM;
	if (err) {
		proc_remove(folder);
		unregister_chrdev(MAJOR, NAME);
	}
	return err;
}
module_init(nvidia_init);

static void __exit nvidia_exit(void)
{
	pci_unregister_driver(&driver);
	proc_remove(folder);
	unregister_chrdev(MAJOR, NAME);
}
module_exit(nvidia_exit);

MODULE_DESCRIPTION("Stands for the driver of GPUs, for tests in the virtual T410");
MODULE_VERSION("595.45.04");
MODULE_LICENSE("GPL");
